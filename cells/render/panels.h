/*
 * The kinds of panels, one file each (svg_lines.c, svg_bars.c, svg_heat.c,
 * svg_gantt.c, svg_cells.c, svg_plan.c). Each says how tall it wants to be at a width, then draws
 * itself into its box; svg.c puts them side by side or below each other.
 */
#ifndef WB_CELLS_RENDER_PANELS_H
#define WB_CELLS_RENDER_PANELS_H

#include "cells/render/pen.h"

/* Curves: the height depends on the width, which says how many stand side by side. */
int lines_height(const struct figure_lines *lines, bool has_title, int width);
void lines_draw(struct drawing *d, const struct panel *panel, struct box box);

int bars_height(const struct figure_bars *bars, bool has_title, int width);
void bars_draw(struct drawing *d, const struct panel *panel, struct box box);

int heat_height(const struct figure_heat *heat, bool has_title, int width);
void heat_draw(struct drawing *d, const struct panel *panel, struct box box);

int gantt_height(const struct figure_gantt *gantt, bool has_title, int width);
void gantt_draw(struct drawing *d, const struct panel *panel, struct box box);

int cells_height(const struct figure_cells *cells, bool has_title, int width);
void cells_draw(struct drawing *d, const struct panel *panel, struct box box);

int plan_height(const struct figure_plan *plan, bool has_title, int width);
void plan_draw(struct drawing *d, const struct panel *panel, struct box box);

/* What all kinds begin with: the title, when there is one. Returns where the rest starts. */
enum { PANEL_TITLE = 20 * PX };
int panel_title(struct drawing *d, const struct panel *panel, struct box box);

/* Instead of marks where there is nothing to draw. */
void panel_empty(struct drawing *d, struct box box);

#endif
