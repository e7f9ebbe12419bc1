package lc3

import (
	"math"
	"math/cmplx"
)

// The inverse low-delay MDCT makes 320 samples from 160 coefficients. The window is 0 over the
// first 60; the next 160 are the frame's, with the end of the frame before added to their
// beginning, and 100 are kept for the frame after.

const (
	overlap = 100 // samples
	points  = frameSamples / 2
)

// roots are the roots of 1, and twiddles turn an orthogonal DCT-IV into a complex transform of half
// its size.
var (
	roots = func() (t [points]complex128) {
		for i := range t {
			t[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/points)
		}
		return t
	}()
	twiddles = func() (t [points]complex128) {
		scale := math.Pow(2./frameSamples, .25) // it is applied twice
		for i := range t {
			t[i] = cmplx.Rect(scale, -math.Pi*float64(8*i+1)/(8*frameSamples))
		}
		return t
	}()
)

// transform is the inverse transform with what it keeps of the frame before.
type transform struct {
	kept [overlap]float64
}

// apply turns coefficients into samples, in place.
func (t *transform) apply(x []float64) {
	cosine(x)
	var full [frameSamples + overlap]float64 // the 320 without the first 60
	for i := range full {
		var v float64
		switch n := i + frameSamples + frameSamples/2 - overlap; { // in units in which the cosines end at 160
		case n < frameSamples:
			v = x[n]
		case n < 2*frameSamples:
			v = -x[2*frameSamples-1-n]
		default:
			v = -x[n-2*frameSamples]
		}
		full[i] = v * window[len(window)-1-i]
	}
	copy(x, full[:frameSamples])
	for i, v := range t.kept {
		x[i] += v
	}
	copy(t.kept[:], full[frameSamples:])
}

// cosine computes the orthogonal DCT-IV of 160 values, in place.
func cosine(x []float64) {
	var a, b [points]complex128
	for i := range a {
		a[i] = complex(x[2*i], x[frameSamples-1-2*i]) * twiddles[i]
	}
	fourier(&a, &b)
	for i := range b {
		v := b[i] * twiddles[i]
		x[2*i], x[frameSamples-1-2*i] = real(v), -imag(v)
	}
}

// fourier computes the discrete Fourier transform of 80 values, in steps of 5, 4 and 4. The result
// is in b.
func fourier(a, b *[points]complex128) {
	const m = points / 5
	for p := range m {
		for j := range 5 {
			sum := a[p]
			for k := 1; k < 5; k++ {
				sum += a[p+m*k] * roots[j*k%5*m]
			}
			b[5*p+j] = sum * roots[p*j]
		}
	}
	four(b, a, 4, 5)
	four(a, b, 1, 20)
}

// four is a step of 4. m values are left for the steps after it, and stride is the product of those
// before.
func four(from, to *[points]complex128, m, stride int) {
	for p := range m {
		w1, w2, w3 := roots[p*stride], roots[2*p*stride], roots[3*p*stride]
		for q := range stride {
			at, step := q+stride*p, stride*m
			v0, v1, v2, v3 := from[at], from[at+step], from[at+2*step], from[at+3*step]
			even, odd := v0+v2, v0-v2
			sum, turned := v1+v3, v1-v3
			turned = complex(imag(turned), -real(turned))
			at = q + 4*stride*p
			to[at] = even + sum
			to[at+stride] = (odd + turned) * w1
			to[at+2*stride] = (even - sum) * w2
			to[at+3*stride] = (odd - turned) * w3
		}
	}
}
