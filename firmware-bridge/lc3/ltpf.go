package lc3

// The long term postfilter makes the harmonics of a voice clearer: it adds the signal of one pitch
// period before.

const (
	fade    = Rate / 400 // samples, 2.5 ms, over which a filter fades in or out
	longest = 288        // samples before a frame that the filter may need
)

// The filter's coefficients: for the input, for each of the four gains, and for the output, for
// each quarter of a sample of the pitch.
var (
	inputTaps = [4][3]float64{
		{6.02361821e-01, 4.19760926e-01, -1.88342453e-02},
		{5.99476858e-01, 4.19760926e-01, -1.59492828e-02},
		{5.96776466e-01, 4.19760926e-01, -1.32488910e-02},
		{5.94241012e-01, 4.19760926e-01, -1.07134366e-02},
	}
	outputTaps = [4][4]float64{
		{2.09880463e-01, 5.83527575e-01, 2.09880463e-01, 0},
		{1.06999186e-01, 5.50075002e-01, 3.35690625e-01, 6.69885837e-03},
		{3.96711478e-02, 4.59220930e-01, 4.59220930e-01, 3.96711478e-02},
		{6.69885837e-03, 3.35690625e-01, 5.50075002e-01, 1.06999186e-01},
	}
)

// pitch holds a frame's parameters of the filter. The zero value: no filter.
type pitch struct {
	active bool
	index  int
}

func readPitch(r *reader) pitch { return pitch{r.bit() == 1, r.uint(9)} }

// comb is the filter of a frame.
type comb struct {
	active bool
	period int // quarters of a sample
	in     [3]float64
	out    [4]float64
}

// comb returns the filter for a frame of the given size. The more bytes, the weaker.
func (p pitch) comb(bytes int) comb {
	weak := max(8*bytes/80, 4) - 4
	if !p.active || weak > 3 {
		return comb{}
	}
	var at128 int // quarters of a sample at 12.8 kHz
	switch {
	case p.index >= 440:
		at128 = 4 * (p.index - 283)
	case p.index >= 380:
		at128 = 4*(p.index/2-63) + 2*(p.index%2)
	default:
		at128 = p.index + 128
	}
	c := comb{active: true, period: (at128*frameSamples + 64) / 128}
	gain := .4 - .05*float64(weak)
	for i, v := range inputTaps[weak] {
		c.in[i] = .85 * gain * v
	}
	for i, v := range outputTaps[c.period%4] {
		c.out[i] = gain * v
	}
	return c
}

// at returns what the filter subtracts from the sample at index i of in and out.
func (c *comb) at(in, out []float64, i int) (v float64) {
	for k, tap := range c.in {
		v += tap * in[i-k]
	}
	i += 1 - c.period/4
	for k, tap := range c.out {
		v -= tap * out[i-k]
	}
	return v
}

// postfilter is the filter with its state from earlier frames.
type postfilter struct {
	before  comb
	in, out [longest + frameSamples]float64
}

// apply filters a frame, in place.
func (f *postfilter) apply(x []float64, now comb) {
	copy(f.in[:], f.in[frameSamples:])
	copy(f.out[:], f.out[frameSamples:])
	copy(f.in[longest:], x)
	out, first := f.out[longest:], 0
	copy(out, x)

	before := f.before
	f.before = now
	same := before.active && now.active && before.period == now.period
	if before.active && !same {
		for i := range fade {
			out[i] -= (1 - float64(i)/fade) * before.at(f.in[:], f.out[:], longest+i)
		}
	}
	if now.active && !same {
		// The output of the filter before is the input of this one.
		mid := f.in
		if before.active {
			copy(mid[:longest], f.out[:longest])
			copy(mid[longest:], out)
		}
		for i := range fade {
			out[i] -= float64(i) / fade * now.at(mid[:], f.out[:], longest+i)
		}
		first = fade
	}
	if now.active {
		for i := first; i < frameSamples; i++ {
			out[i] -= now.at(f.in[:], f.out[:], longest+i)
		}
	}
	copy(x, out)
}
