package speech

import "math"

// Settings of the detector, found by a random search over the test's speech
// and noises; their last digits do not matter. Times are in frames, levels in
// dB.
const (
	smooth    = 0.499  // smoothing of a band's level from frame to frame
	wide      = 0.594  // weight of the level of all bands together in the rise, relative to their mean
	under     = -1.75  // a band further below the floor counts as this
	most      = 18     // and further above it as this
	leastRise = 1.97   // a threshold is never below this …
	mostRise  = 5.13   // … nor above this
	spread    = 3.9    // standard deviations above the mean of the noise's rise
	learn     = 0.0342 // how fast these follow
	release   = 0.389  // of the threshold: speech ends below it
	hold      = 8      // frames of speech after the last rise, for weak endings
	gap       = 8      // a pause of up to 2·gap−1 frames within speech is speech
	ahead     = 3      // frames that a decision looks ahead

	pace      = 0.0258 // how fast the floor follows the noise
	slew      = 0.02   // and how far up it goes in a frame, so that speech does not lift it
	settle    = 50     // frames at the beginning, in which it follows faster:
	firstPace = 0.15
	firstSlew = 0.929
	sink      = 0.04 // how fast it goes down within speech
	minParts  = 8    // the minimum level is searched in so many parts …
	minLength = 25   // … of so many frames: 4 s together
	lift      = 1.55 // from the minimum of a smoothed noise level to its mean
	quiet     = 2e4  // band power of a dead microphone: the lowest floor
)

// delay is how many frames later a frame is decided.
const delay = ahead + gap

const levels = bands + 1 // the bands, and all of them together

// detector is the state of a stream.
type detector struct {
	heard  int64 // samples
	fill   int   // of window
	window [size]float32

	frames  int64
	energy  [levels]float32 // smoothed, dB
	floor   [levels]float32
	least   [minParts][levels]float32
	current [levels]float32
	age     int // frames in the current part
	parts   int

	few    [4]float32 // mean and deviation of the rise in noise; the quietest rise near the cut; the last rise
	recent [2*ahead + 1]float32
	on     bool
	held   int

	open    bool
	begin   int64 // frame
	last    int64 // latest frame of speech
	count   int   // frames of speech in the utterance
	raised  int64 // whether the last frames rose above the threshold, the latest in bit 0
	speech  bool  // the last decided frame is speech
	since   int64 // frame after the last utterance
	quietAt int64
}

// push takes a sample, and reports whether a frame is complete.
func (d *detector) push(s float32) bool {
	d.window[d.fill] = s
	d.fill++
	d.heard++
	return d.fill == size
}

// frame measures the rise of the window above the floor, and updates both. All levels are in
// dB.
func (d *detector) frame(x *spectrum) float32 {
	var e [bands]float32
	x.energies(&d.window, &e)
	copy(d.window[:], d.window[hop:])
	d.fill = size - hop
	var all float32
	for b := range bands {
		all += max(e[b], quiet) * float32(x.edge[b+1]-x.edge[b])
	}
	var rise float32
	for b := range levels {
		v := all
		if b < bands {
			v = max(e[b], quiet)
		}
		v = 10 * log10(v)
		if d.frames == 0 {
			d.energy[b], d.floor[b], d.current[b] = v, v, v
			for p := range d.least {
				d.least[p][b] = v
			}
		}
		d.energy[b] += (1 - smooth) * (v - d.energy[b])
		d.current[b] = min(d.current[b], d.energy[b])
		r := max(under, min(d.energy[b]-d.floor[b], most))
		if b < bands {
			rise += (1 - wide) / bands * r
		} else {
			rise += wide * r
		}
	}
	d.frames++
	d.track()
	return rise
}

// track moves the floor: towards the level if there is no speech, down to lower levels, and up to
// the minimum level of the last seconds.
func (d *detector) track() {
	d.age++
	if d.age == minLength {
		d.least[d.parts%minParts] = d.current
		d.parts++
		d.age = 0
		d.current = d.energy
	}
	pace, slew := float32(pace), float32(slew)
	if d.frames < settle {
		pace, slew = firstPace, firstSlew
	}
	for b := range d.floor {
		low := d.current[b]
		for p := range min(d.parts, minParts) {
			low = min(low, d.least[p][b])
		}
		e := d.energy[b]
		switch {
		case !d.on && d.held == 0:
			d.floor[b] += max(-1, min(pace*(e-d.floor[b]), slew))
		case e < d.floor[b]:
			d.floor[b] += sink * (e - d.floor[b])
		}
		if d.parts >= minParts {
			d.floor[b] = max(d.floor[b], low+lift)
		}
	}
}

// decide reports whether the frame is speech, with hysteresis.
func (d *detector) decide(rise float32) bool {
	copy(d.recent[:], d.recent[1:])
	d.recent[len(d.recent)-1] = rise
	var r float32
	for _, v := range d.recent {
		r += v
	}
	r /= float32(len(d.recent))
	threshold := max(leastRise, min(d.few[0]+spread*d.few[1], mostRise))
	switch {
	case d.frames <= 5:
	case r > threshold:
		d.on, d.held = true, hold
	case d.on && r > release*threshold && rise > 0.5*threshold:
		d.held = max(d.held, hold/2)
	default:
		d.on = false
		if d.held > 0 {
			d.held--
		}
	}
	if !d.on && d.held == 0 {
		diff := r - d.few[0]
		d.few[0] += learn * diff
		if diff < 0 {
			diff = -diff
		}
		diff = min(diff, 3*d.few[1]+0.3)
		d.few[1] += learn * (1.25*diff - d.few[1]) // mean deviation to standard deviation of a normal distribution
	}
	d.few[3] = r
	d.raised = d.raised << 1 & (1<<(2*gap+1) - 1)
	if d.on || d.held > 0 {
		d.raised |= 1
	}
	const after, at = 1<<gap - 1, 1 << gap
	d.speech = d.raised&at != 0 || d.raised&after != 0 && d.raised>>(gap+1) != 0
	return d.speech
}

// cut begins, continues and ends utterances; emit gets ranges of samples.
func (d *detector) cut(emit func(from, to int64)) {
	now := d.frames - delay - 1 // the last decided frame
	if d.speech {
		if !d.open {
			d.open, d.begin, d.count = true, max(d.since, now-preRoll), 0
			d.few[2] = math.MaxFloat32
		}
		d.count++
		d.last = now
	}
	if !d.open {
		return
	}
	if now-d.begin > longest-searchCut && d.few[3] <= d.few[2] {
		d.few[2], d.quietAt = d.few[3], now
	}
	switch {
	case now-d.last >= endAfter:
		d.end(min(d.last+postRoll, now), emit)
	case now-d.begin >= longest:
		d.end(d.quietAt, emit)
		d.open, d.begin, d.count, d.last = true, d.since, fewest, now
		d.few[2] = math.MaxFloat32
	}
}

func (d *detector) end(last int64, emit func(from, to int64)) {
	if d.count >= fewest {
		emit(max(0, d.begin)*hop, min((last+1)*hop, d.heard))
		d.since = last + 1
	}
	d.open, d.count = false, 0
}

// finish ends an open utterance, at the end of the stream.
func (d *detector) finish(emit func(from, to int64)) {
	if d.open {
		last := min(d.last+postRoll, d.frames)
		if d.last+postRoll+delay >= d.frames {
			last = d.heard/hop - 1
		}
		d.end(max(last, d.begin), emit)
	}
}

// log10 is accurate enough for decibels: within 0.01, from the exponent and a polynomial of the
// mantissa.
func log10(x float32) float32 {
	bits := math.Float32bits(x)
	e := float32(int32(bits>>23) - 128)
	m := math.Float32frombits(bits&0x7fffff | 127<<23)
	return 0.30103 * (e + (-1.0/3*m+2)*m - 2.0/3)
}
