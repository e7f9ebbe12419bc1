package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/locket-dev/locket/wasm/abi"
)

// A host and its worker exchange frames, over two pipes. Numbers are little-endian; a text or bytes
// is its length, 4 bytes, and its content.
//
//	frame  length of the rest 4, kind 1, body
//
//	from the host
//	load    id, grants, settings, cache folder, module: texts and bytes; memory
//	        MiB 4, fuel 8, time ms 4, output KiB 4; interpret 1
//	begin  nothing: apply the restrictions, and start the plugins
//	call    plugin 4, at 8, event id, event
//
//	from the worker, one for each of these
//	loaded  failure
//	begun  the applied restrictions 1; for each plugin a failure
//	answer  status 1, fuel 8, time ns 8, memory 8, lines 4, fresh 1, lines kept,
//	        and bytes (nothing, output, error) or a failure (fault)
//
//	failure sentinel 1 (0: none), fault 1, code 1, place, text
//
// Either side treats any other frame as the end of the other side: the worker exits, and the host
// kills it.
const (
	frameLoad   = 1
	frameBegin  = 2
	frameCall   = 3
	frameLoaded = 65
	frameBegun  = 66
	frameAnswer = 67
)

// Statuses of an answer.
const (
	answerNothing = iota
	answerOutput
	answerError
	answerFault
)

// Largest frames, in bytes: a module with its settings, and an output with the log lines.
const (
	maxToWorker   = abi.MaxModule + 1<<20
	maxFromWorker = abi.MaxOutput + abi.MaxLogLines*(abi.MaxLogLine+4) + 4<<10
	maxFailure    = 1 << 10 // bytes of its text
)

// errFrame: a frame is invalid.
var errFrame = errors.New("broken frame")

// frame is a frame that is written, or read piece by piece. A read beyond its end marks it as bad,
// and returns zero.
type frame struct {
	b   []byte
	off int
	bad bool
}

// begin starts a new frame.
func (f *frame) begin(kind byte) *frame {
	f.b, f.off, f.bad = append(f.b[:0], 0, 0, 0, 0, kind), 0, false
	return f
}

func (f *frame) u8(v byte)    { f.b = append(f.b, v) }
func (f *frame) u32(v uint32) { f.b = binary.LittleEndian.AppendUint32(f.b, v) }
func (f *frame) u64(v uint64) { f.b = binary.LittleEndian.AppendUint64(f.b, v) }
func (f *frame) flag(v bool) {
	if v {
		f.u8(1)
	} else {
		f.u8(0)
	}
}

func (f *frame) str(s string) {
	f.u32(uint32(len(s)))
	f.b = append(f.b, s...)
}

func (f *frame) bytes(p []byte) {
	f.u32(uint32(len(p)))
	f.b = append(f.b, p...)
}

// send writes the frame in one write.
func (f *frame) send(w io.Writer) error {
	binary.LittleEndian.PutUint32(f.b, uint32(len(f.b)-4))
	_, err := w.Write(f.b)
	return err
}

// receive reads a frame of this kind, with at most most bytes.
func (f *frame) receive(r io.Reader, most int) (kind byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 1 || n > uint32(most) {
		return 0, fmt.Errorf("%w: of %d bytes", errFrame, n)
	}
	if cap(f.b) < int(n)-1 {
		f.b = make([]byte, n-1)
	}
	f.b, f.off, f.bad = f.b[:n-1], 0, false
	_, err = io.ReadFull(r, f.b)
	return head[4], err
}

func (f *frame) next(n int) []byte {
	if f.bad || n < 0 || n > len(f.b)-f.off {
		f.bad = true
		return nil
	}
	p := f.b[f.off : f.off+n : f.off+n]
	f.off += n
	return p
}

func (f *frame) getU8() byte {
	if p := f.next(1); p != nil {
		return p[0]
	}
	return 0
}

func (f *frame) getU32() uint32 {
	if p := f.next(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (f *frame) getU64() uint64 {
	if p := f.next(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// getFlag accepts only 0 and 1.
func (f *frame) getFlag() bool {
	v := f.getU8()
	f.bad = f.bad || v > 1
	return v == 1
}

// count reads a number of items of at least each bytes.
func (f *frame) count(each int) int {
	n := f.getU32()
	if uint64(n)*uint64(each) > uint64(len(f.b)-f.off) {
		f.bad = true
		return 0
	}
	return int(n)
}

func (f *frame) getBytes() []byte { return f.next(f.count(1)) }
func (f *frame) getStr() string   { return string(f.getBytes()) }

// end reports whether the frame was valid and read completely.
func (f *frame) end() error {
	if f.bad || f.off != len(f.b) {
		return errFrame
	}
	return nil
}

// sentinels in the order of their numbers in a failure, from 1.
var sentinels = []error{ErrManifest, ErrModule, ErrImport, ErrHash, ErrMemory}

// fail writes the cause of a failure; nil: there was none.
func (f *frame) fail(err error) {
	var sentinel, kind, code byte
	var where, text string
	if err != nil {
		sentinel, text = math.MaxUint8, err.Error()
	}
	for i, s := range sentinels {
		if errors.Is(err, s) {
			sentinel = byte(i + 1)
		}
	}
	var fault *Fault
	if errors.As(err, &fault) {
		for i, k := range faultKinds {
			if k == fault.Kind {
				kind = byte(i + 1)
			}
		}
		text = ""
		if fault.Detail != nil {
			text = fault.Detail.Error()
		}
		var refused *abi.Error
		if errors.As(fault.Detail, &refused) {
			code, where = byte(refused.Code), refused.Place
		}
	}
	f.u8(sentinel)
	f.u8(kind)
	f.u8(code)
	f.str(where[:min(len(where), maxFailure)])
	f.str(text[:min(len(text), maxFailure)])
}

// getFail reads a failure. plugin is the one that it concerns; nil: there was none. The content is
// only the worker's claim, and limited.
func (f *frame) getFail(plugin string) error {
	sentinel, kind, code, where, text := f.getU8(), f.getU8(), f.getU8(), f.getStr(), f.getStr()
	if len(where) > maxFailure || len(text) > maxFailure || int(kind) > len(faultKinds) {
		f.bad = true
	}
	switch {
	case f.bad || sentinel == 0:
		return nil
	case kind > 0:
		fault := &Fault{Plugin: plugin, Kind: faultKinds[kind-1]}
		if code > 0 {
			fault.Detail = &abi.Error{Code: abi.Code(code), Place: printable(where)}
		} else if text != "" {
			fault.Detail = errors.New(printable(text))
		}
		return fault
	case int(sentinel) <= len(sentinels):
		return &relayed{sentinels[sentinel-1], printable(text)}
	}
	return &relayed{ErrModule, printable(text)}
}

// relayed is an error of another process, in that process's words.
type relayed struct {
	sentinel error
	text     string
}

func (r *relayed) Error() string { return r.text }
func (r *relayed) Unwrap() error { return r.sentinel }
