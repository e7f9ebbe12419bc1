package foreign

import (
	"context"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory"
)

// Limits of one reading, because the process has other work and needs its memory.
const (
	MaxAdds   = 100_000   // texts; WhatsApp exports 40,000 of a chat
	MaxHeld   = 256 << 20 // bytes of the texts, and about those that a file of JSON takes once it is read
	MaxFolder = 64 << 20  // bytes of a folder's files together
)

// MaxSkipped is how many of the things that were not taken are named, with or without bounds.
const MaxSkipped = 500

func (r *Result) skip(where, format string, args ...any) {
	if len(r.Skipped) == MaxSkipped {
		r.More++
		return
	}
	r.Skipped = append(r.Skipped, Skipped{where, fmt.Sprintf(format, args...)})
}

// end ends the reading with an error that tells of the way without bounds.
func (r *Result) end(format string, args ...any) error {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: the command \"locket import\" reads it", memory.ErrInvalid, fmt.Sprintf(format, args...))
	}
	return r.err
}

// ended reports whether the reading is over, by its context or a bound.
func (r *Result) ended() bool {
	switch {
	case r.err != nil:
	case r.ctx.Err() != nil:
		r.err = context.Cause(r.ctx)
	case r.bounded && len(r.Adds) >= MaxAdds:
		_ = r.end("it has %d texts or more", MaxAdds)
	case r.bounded && r.held > MaxHeld:
		_ = r.end("its texts have more than %d bytes", MaxHeld)
	}
	return r.err != nil
}

// most is how many matches are looked for in a text; -1: all.
func (r *Result) most() int {
	if r.bounded {
		return MaxAdds
	}
	return -1
}

// bytes reads a file, within what may be read still.
func (r *Result) bytes(name string, from io.Reader) ([]byte, error) {
	most := int64(MaxFile)
	if r.bounded {
		most = min(most, r.left)
	}
	b, err := io.ReadAll(&io.LimitedReader{R: while{r.ctx, from}, N: most + 1})
	switch {
	case err != nil && r.ended():
		return nil, r.err
	case err != nil:
		return nil, err
	case int64(len(b)) <= most:
		r.left -= int64(len(b))
		return b, nil
	case most < MaxFile:
		return nil, r.end("%s: the files up to it have more than %d bytes", name, MaxFolder)
	}
	return nil, fmt.Errorf("%w: %s: more than %d bytes", memory.ErrInvalid, name, MaxFile)
}

// while reads until its context ends.
type while struct {
	ctx context.Context // which io.Reader has no room for
	r   io.Reader
}

func (w while) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// What JSON takes at most once it is read, in bytes: an object or a list, and any other value.
// The text of three bytes "{}," takes a hundred times that.
const (
	weightOfNest  = 400
	weightOfValue = 48
)

// weigh refuses JSON that would take more than MaxHeld once it is read.
func (r *Result) weigh(f Format, name string, b []byte) error {
	switch f {
	case Notes, BasicMemory, WhatsApp, Mbox:
		return nil
	}
	if !r.bounded {
		return nil
	}
	weight, quoted := 0, false
	for i := 0; i < len(b); i++ {
		if i%(1<<20) == 0 && r.ended() {
			return r.err
		}
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			weight += weightOfNest
		case c == ',':
			weight += weightOfValue
		}
		if weight > MaxHeld {
			return r.end("%s: byte %d: its objects and lists would take more than %d bytes of memory", name, i, MaxHeld)
		}
	}
	return nil
}
