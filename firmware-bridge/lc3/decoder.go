package lc3

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Decoder decodes one recording of frames of 10 ms at 16 kHz, one channel. The zero value is ready.
// It is used by one goroutine at a time.
type Decoder struct {
	begun      bool // a frame was decoded
	transform  transform
	postfilter postfilter

	// From the last good frame, to conceal broken ones.
	good  [coefficients]float64
	lost  int // broken frames since then
	faint float64
	dice  uint16
}

// frame is the parameters of a frame.
type frame struct {
	wide     bool // it has frequencies of over 4 kHz
	spectrum spectrum
	shaping  shaping
	pitch    pitch
	envelope envelope
}

// read reads a frame, and reports whether an encoder can have written it.
func (f *frame) read(b []byte) bool {
	r := newReader(b)
	f.wide = r.bit() == 1
	if !f.spectrum.side(r) {
		return false
	}
	f.shaping = readShaping(r)
	pitched := r.bit() == 1
	var ok bool
	if f.envelope, ok = readEnvelope(r); !ok {
		return false
	}
	if pitched {
		f.pitch = readPitch(r)
	}
	return f.spectrum.read(r, f.wide)
}

// samples returns the 160 samples of a frame, before they are rounded.
func (d *Decoder) samples(b []byte) []float64 {
	var f frame
	x := make([]float64, coefficients)
	var comb comb
	if f.read(b) {
		copy(x, f.spectrum.x[:])
		f.shaping.apply(x, f.wide)
		f.envelope.apply(x)
		copy(d.good[:], x)
		d.lost, d.faint = 0, 1
		comb = f.pitch.comb(len(b))
	} else {
		d.conceal(x)
	}
	d.transform.apply(x)
	d.postfilter.apply(x, comb)
	return x
}

// conceal makes the spectrum of the last good frame with changed signs, weaker with each broken
// frame: the specification's appendix B.
func (d *Decoder) conceal(x []float64) {
	if d.dice == 0 {
		d.dice = 24607
	}
	switch d.lost++; {
	case d.lost >= 8:
		d.faint *= .85
	case d.lost >= 4:
		d.faint *= .9
	}
	for i, v := range d.good {
		d.dice = 16831 + d.dice*12821
		x[i] = d.faint * v
		if d.dice >= 1<<15 {
			x[i] = -x[i]
		}
	}
}

// Decode returns the samples of a frame of 20 to 400 bytes, 16 bits little-endian: 160, but only
// 120 for the first frame of a recording. A frame that no encoder can have written is concealed.
// The error is ErrFrame, which leaves the decoder unchanged.
func (d *Decoder) Decode(frame []byte) ([]byte, error) {
	if len(frame) < minBytes || len(frame) > maxBytes {
		return nil, fmt.Errorf("%w, not of %d", ErrFrame, len(frame))
	}
	x := d.samples(frame)
	if !d.begun {
		x, d.begun = x[Delay:], true
	}
	out := make([]byte, 0, 2*len(x))
	for _, v := range x {
		v = min(max(math.Round(v), math.MinInt16), math.MaxInt16)
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(v)))
	}
	return out, nil
}
