package limitless

import (
	"fmt"
	"time"
)

// The pendant's side of the protocol, for a simulated one.

// Command is what a host wrote. Fields that are missing are nil or false.
type Command struct {
	Clock     *time.Time
	Forget    *uint64 // delete the pages up to this one
	Mode      *Mode
	AskStatus bool
}

// Mode is what the pendant sends: its pages, sound as it comes, or nothing.
type Mode struct{ Stored, Live bool }

// ParseCommand reads a host's message, which the assembler has completed.
func ParseCommand(payload []byte) (c Command, err error) {
	for b := payload; len(b) > 0; {
		f, rest, err := next(b)
		if err != nil {
			return c, fmt.Errorf("%w: command: %v", ErrFormat, err)
		}
		b = rest
		v := map[uint64]uint64{}
		for in := f.data; f.wire == 2 && len(in) > 0; {
			g, rest, err := next(in)
			if err != nil {
				return c, fmt.Errorf("%w: command: %v", ErrFormat, err)
			}
			v[g.number], in = g.value, rest
		}
		switch one, two := v[1], v[2]; f.number {
		case 6:
			at := time.UnixMilli(int64(one)).UTC()
			c.Clock = &at
		case 7:
			c.Forget = &one
		case 8:
			c.Mode = &Mode{one != 0, two != 0}
		case 21:
			c.AskStatus = true
		}
	}
	return c, nil
}

// AppendPage appends a pendant's message with a page.
func AppendPage(b []byte, p Page) []byte {
	var sound []byte
	for _, f := range p.Frames {
		sound = bytesField(sound, 1, f)
	}
	if p.Ends {
		sound = number(sound, 9, 1)
	}
	flash := number(nil, 1, uint64(p.At.UnixMilli()))
	if len(sound) > 0 {
		flash = bytesField(flash, 3, bytesField(number(nil, 1, 0), 2, sound))
	} else {
		flash = bytesField(flash, 3, bytesField(nil, 12, number(number(nil, 1, 1), 2, 0)))
	}
	return bytesField(b, 2, bytesField(number(number(nil, 2, p.Session), 5, p.Index), 6, flash))
}

// AppendStatus appends a pendant's message about what is stored.
func AppendStatus(b []byte, s Status) []byte {
	var in []byte
	for i, v := range []uint64{s.Oldest, s.Newest, s.Session, s.Free, s.All} {
		in = number(in, uint64(i+1), v)
	}
	return bytesField(b, 5, bytesField(number(nil, 1, 85), 5, in))
}

// AppendPress appends a pendant's message about a press.
func AppendPress(b []byte, p Button) []byte { return bytesField(b, 8, number(nil, 1, uint64(p))) }

// AppendLive appends a pendant's message with a frame of live sound.
func AppendLive(b, frame []byte) []byte { return bytesField(b, 4, frame) }

// Split cuts a message into packets, each with at most room bytes of it.
func Split(index uint64, message []byte, room int) (out [][]byte) {
	of := uint64((len(message) + room - 1) / room)
	for n := range of {
		part := message[n*uint64(room) : min((n+1)*uint64(room), uint64(len(message)))]
		out = append(out, bytesField(number(number(number(nil, 1, index), 2, n), 3, of), 4, part))
	}
	return out
}
