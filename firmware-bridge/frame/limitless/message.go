package limitless

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// Parse reads a complete message. Unknown fields are ignored.
func Parse(payload []byte) (Message, error) {
	var m Message
	for b := payload; len(b) > 0; {
		f, rest, err := next(b)
		if err != nil {
			if m.Storage != nil || m.Live != nil || m.Status != nil || m.Press != nil {
				return m, nil // what comes before is complete
			}
			return m, fmt.Errorf("%w: message: %v", ErrFormat, err)
		}
		b = rest
		switch {
		case f.number == 2 && f.wire == 2:
			m.Storage, m.Err = storage(f.data)
		case f.number == 4 && f.wire == 2 && len(f.data) > 0:
			if Knows(f.data) {
				m.Live = append(m.Live, f.data)
			} else {
				m.Live = append(m.Live, frames(f.data, 0)...)
			}
		case f.number == 5 && f.wire == 2:
			if m.Status, err = status(f.data); err != nil {
				return m, err
			}
		case f.number == 8 && f.wire == 2:
			if m.Press, err = press(f.data); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// storage reads {2 session, 4 seq, 5 page index, 6 flash page}.
func storage(b []byte) (*Page, error) {
	var p Page
	var flash []byte
	indexed := false
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return nil, fmt.Errorf("%w: page: %v", ErrFormat, err)
		}
		switch b = rest; {
		case f.number == 2 && f.wire == 0:
			p.Session = f.value
		case f.number == 5 && f.wire == 0:
			p.Index, indexed = f.value, true
		case f.number == 6 && f.wire == 2:
			flash = f.data
		}
	}
	if !indexed || flash == nil {
		return nil, nil // not a page; the same field is used for other things
	}
	sound := p.flash(flash)
	if sound && len(p.Frames) == 0 {
		return &p, ErrNoSound
	}
	return &p, nil
}

// flash reads {1 ms since 1970, 2 uptime, 3 wrapper {1 offset, 2 sound, 12 marks}}, and reports
// whether the page has sound. A length beyond the page's end ends the reading, and what was found
// counts. An unknown wire type is taken for sound, so that nothing is deleted that could not be
// read.
func (p *Page) flash(b []byte) (sound bool) {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return sound || errors.Is(err, errWire)
		}
		switch b = rest; {
		case f.number == 1 && f.wire == 0 && f.value >= epoch && f.value < 1<<43:
			p.At = time.UnixMilli(int64(f.value)).UTC()
		case f.number == 3 && f.wire == 2:
			if p.wrapper(f.data) {
				sound = true
			}
			p.Frames = append(p.Frames, frames(f.data, 0)...)
		}
	}
	return sound
}

// wrapper looks for sound and for marks in a wrapper.
func (p *Page) wrapper(b []byte) (sound bool) {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return sound || errors.Is(err, errWire)
		}
		switch b = rest; {
		case f.number == 2 && f.wire == 2:
			sound = true
			p.marks(f.data, 9) // a recording ended
		case f.number == 12 && f.wire == 2:
			p.marks(f.data, 2) // the session ended
		}
	}
	return sound
}

func (p *Page) marks(b []byte, end uint64) {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return
		}
		if b = rest; f.wire == 0 && f.number == end && f.value != 0 {
			p.Ends = true
		}
	}
}

// frames finds the Opus frames in a container: fields of 10 to 200 bytes that begin like those of
// the pendant's encoder. Longer ones are containers.
func frames(b []byte, depth int) (out [][]byte) {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return out
		}
		b = rest
		switch {
		case f.wire == 1 || f.wire == 5:
			return out
		case f.wire != 2 || len(f.data) < minFrame:
		case Knows(f.data):
			out = append(out, f.data)
		case depth < maxDepth:
			out = append(out, frames(f.data, depth+1)...)
		}
	}
	return out
}

// Knows reports whether a field is a frame of the pendant's encoder.
func Knows(field []byte) bool {
	return len(field) >= minFrame && len(field) <= maxFrame && bytes.IndexByte([]byte{0xb8, 0x78, 0xf8, 0xb0, 0x70, 0xf0}, field[0]) >= 0
}

// Duration returns the duration of a frame, from its first byte (RFC 6716, 3.1): the encoder's
// frames of 20 ms end in 8 and those of 10 ms in 0.
func Duration(frame []byte) time.Duration {
	if frame[0]&8 != 0 {
		return 20 * time.Millisecond
	}
	return 10 * time.Millisecond
}

// status looks for {5 {1 oldest, 2 newest, 3 session, 4 free, 5 all}}.
func status(b []byte) (*Status, error) {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return nil, fmt.Errorf("%w: status: %v", ErrFormat, err)
		}
		if b = rest; f.number != 5 || f.wire != 2 {
			continue
		}
		var s Status
		to := []*uint64{&s.Oldest, &s.Newest, &s.Session, &s.Free, &s.All}
		for in := f.data; len(in) > 0; {
			f, rest, err := next(in)
			if err != nil {
				return nil, fmt.Errorf("%w: status: %v", ErrFormat, err)
			}
			if in = rest; f.wire == 0 && f.number >= 1 && f.number <= uint64(len(to)) {
				*to[f.number-1] = f.value
			}
		}
		return &s, nil
	}
	return nil, nil // another kind of status
}

// press reads {1 event}; nil if nothing is pressed.
func press(b []byte) (*Button, error) {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return nil, fmt.Errorf("%w: button: %v", ErrFormat, err)
		}
		if b = rest; f.number == 1 && f.wire == 0 {
			if f.value > 3 {
				return nil, fmt.Errorf("%w: button: %d is not one", ErrFormat, f.value)
			}
			if f.value == 0 {
				return nil, nil
			}
			p := Button(f.value)
			return &p, nil
		}
	}
	return nil, nil
}
