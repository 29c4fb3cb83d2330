/*
 * exp, log and their like from additions, multiplications, divisions and square roots alone,
 * which IEEE 754 fixes to the last bit: the same number on every machine. A C library's
 * differ in the last place from version to version, and data sets would with them.
 *
 * The result is within about 2 units in the last place of the true one, sin and cos for |x| up
 * to 10^6; larger arguments lose digits, as x itself does. pow of broken exponents: 1e-14.
 */
#ifndef WB_CELLS_REAL_H
#define WB_CELLS_REAL_H

double real_exp(double x);
double real_log(double x);  /* nan below 0, -inf at 0 */
double real_log2(double x); /* exact for powers of two */
double real_sin(double x);
double real_cos(double x);
double real_tanh(double x);
double real_pow(double x, double y); /* by repeated multiplication for whole y up to 1024 */

#endif
