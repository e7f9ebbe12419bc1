package foreign

import (
	"context"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory"
)

// Limits for reading a file in a process that has other work and needs its memory.
const (
	MaxAdds   = 100_000   // texts; WhatsApp exports 40,000 messages of a chat
	MaxHeld   = 256 << 20 // bytes of the texts, and roughly the memory of a parsed JSON file
	MaxFolder = 64 << 20  // bytes of all files in a folder together
)

// MaxSkipped is how many of the skipped items are listed, with or without limits.
const MaxSkipped = 500

func (r *Result) skip(where, format string, args ...any) {
	if len(r.Skipped) == MaxSkipped {
		r.More++
		return
	}
	r.Skipped = append(r.Skipped, Skipped{where, fmt.Sprintf(format, args...)})
}

// end stops reading with an error that describes the way without limits.
func (r *Result) end(format string, args ...any) error {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: the command \"locket import\" reads it", memory.ErrInvalid, fmt.Sprintf(format, args...))
	}
	return r.err
}

// ended reports whether reading has stopped, because of its context or a limit.
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

// most returns how many matches are searched for in a text; -1: all.
func (r *Result) most() int {
	if r.bounded {
		return MaxAdds
	}
	return -1
}

// bytes reads a file, within the remaining limit.
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

// while is a reader that stops when its context ends.
type while struct {
	ctx context.Context // because io.Reader has no parameter for it
	r   io.Reader
}

func (w while) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// The maximum memory that parsed JSON takes, in bytes: for an object or a list, and for any
// other value. The three bytes "{}," of text need a hundred times that.
const (
	weightOfNest  = 400
	weightOfValue = 48
)

// weigh refuses JSON that would take more than MaxHeld bytes once it is parsed.
func (r *Result) weigh(f Format, name string, b []byte) error {
	switch f {
	case Notes, BasicMemory, WhatsApp, Mbox, Calendar:
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
