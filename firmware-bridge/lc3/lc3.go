// Package lc3 decodes LC3, the codec of Bluetooth LE Audio that some wearables send, with
// the program dlc3 of google/liblc3 (Debian: liblc3-tools). There is no LC3 decoder in Go
// that needs no C, and the program keeps one decoder's state over a whole recording, as the
// codec wants it.
package lc3

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

var (
	// ErrMissing: the program is not installed, so that frames can't be decoded.
	ErrMissing = errors.New("lc3: LC3 not decoded: the program dlc3 is missing; install Debian's liblc3-tools, or google/liblc3")
	// ErrFrame: a frame is not as long as a frame of LC3 may be.
	ErrFrame = errors.New("lc3: want a frame of 20 to 400 bytes")
	// ErrEnded: the program ended by itself.
	ErrEnded = errors.New("lc3: dlc3 ended")
)

const (
	// Rate is the samples of a second.
	Rate = 16000
	// Lasts is for how long a frame sounds.
	Lasts = 10 * time.Millisecond

	frameBytes = 2 * Rate / 100 // of samples
	delay      = 40             // samples that the program leaves out at the beginning: the codec's own delay
	wavHeader  = 44             // bytes
	patience   = 10 * time.Second
	backlog    = 100 // frames that the program may be behind: a second, which is all that a kill takes with it
)

// Find says whether the program is there: nil, or ErrMissing.
func Find() error {
	if _, err := exec.LookPath("dlc3"); err != nil {
		return ErrMissing
	}
	return nil
}

// Piece is the samples of one frame, 16 bits little-endian at 16 kHz.
type Piece struct {
	PCM []byte
	At  time.Time // as Push was given it
}

// Decoder decodes one recording of frames of 10 ms at 16 kHz, one channel. A frame may have
// 20 to 400 bytes. It is for one goroutine. Flush or Close must be called in the end.
type Decoder struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	at  []time.Time // of frames whose samples were not given yet

	mu   sync.Mutex
	out  []byte        // samples that were not given yet
	skip int           // bytes of the header that are still to come
	done bool          // what comes from now on is no sample of the recording
	grew chan struct{} // holds one
	gone chan struct{} // closed when the program writes no more
}

// Start begins a recording.
func Start() (*Decoder, error) {
	if err := Find(); err != nil {
		return nil, err
	}
	d := &Decoder{cmd: exec.Command("dlc3"), skip: wavHeader, grew: make(chan struct{}, 1), gone: make(chan struct{})}
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("lc3: %w", err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("lc3: %w", err)
	}
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("lc3: start dlc3: %w", err)
	}
	go d.read(out)
	// The header of liblc3's files (tools/lc3bin.c): magic, size, rate and bit rate in
	// hundreds, channels, frame in 10 µs, error protection, samples low and high. The
	// samples are more than a recording ever has; what is really there the frames say.
	var head []byte
	for _, v := range []uint16{0xcc1c, 18, Rate / 100, 160, 1, 1000, 0, 0xffff, 0x1fff} {
		head = binary.LittleEndian.AppendUint16(head, v)
	}
	return d, d.write(head)
}

func (d *Decoder) write(b []byte) error {
	if _, err := d.in.Write(b); err != nil {
		return errors.Join(fmt.Errorf("%w: %v", ErrEnded, err), d.Close())
	}
	return nil
}

func (d *Decoder) read(out io.Reader) {
	defer close(d.gone)
	b := make([]byte, 64<<10)
	for {
		n, err := out.Read(b)
		d.mu.Lock()
		cut := min(n, d.skip)
		d.skip -= cut
		if !d.done {
			d.out = append(d.out, b[cut:n]...)
		}
		enough := d.done || len(d.out) > 1<<20 // after the end the program writes silence without end
		d.mu.Unlock()
		select {
		case d.grew <- struct{}{}:
		default:
		}
		if err != nil || enough {
			return
		}
	}
}

// Push gives the decoder a frame that came at a time. It waits while the program is more than a second
// of sound behind: the pipe to it would hold half a minute, which is on no disk.
func (d *Decoder) Push(frame []byte, at time.Time) error {
	if len(frame) < 20 || len(frame) > 400 {
		return fmt.Errorf("%w, not of %d", ErrFrame, len(frame))
	}
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(frame)))
	if err := d.write(append(b, frame...)); err != nil {
		return err
	}
	d.at = append(d.at, at)
	if len(d.at) <= backlog {
		return nil
	}
	late := time.After(patience)
	for d.behind() > backlog {
		select {
		case <-d.grew:
		case <-d.gone:
			return nil // the next write says why
		case <-late:
			return errors.Join(fmt.Errorf("%w: it stood still for %s", ErrEnded, patience), d.Close())
		}
	}
	return nil
}

// behind is how many frames the program has not decoded.
func (d *Decoder) behind() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.at) - len(d.out)/frameBytes
}

// Take gives what has been decoded by now, whole frames. The program holds up to about 130
// ms back.
func (d *Decoder) Take() []Piece {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.take()
}

// take is Take with mu held.
func (d *Decoder) take() (out []Piece) {
	for len(d.at) > 0 && len(d.out) >= frameBytes {
		out = append(out, Piece{d.out[:frameBytes:frameBytes], d.at[0]})
		d.out, d.at = d.out[frameBytes:], d.at[1:]
	}
	return out
}

// Flush gives the rest, and ends the recording. The last frame is 2.5 ms shorter, which is
// the codec's delay.
func (d *Decoder) Flush() ([]Piece, error) {
	if err := d.in.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("lc3: %w", err), d.Close())
	}
	late := time.After(patience)
	want := max(0, len(d.at)*frameBytes-2*delay)
	for {
		d.mu.Lock()
		have := len(d.out)
		d.mu.Unlock()
		if have >= want {
			break
		}
		select {
		case <-d.grew:
			continue
		case <-d.gone:
		case <-late:
		}
		d.mu.Lock()
		have = len(d.out)
		d.mu.Unlock()
		if have < want {
			return d.Take(), errors.Join(fmt.Errorf("%w: %d bytes of samples are missing", ErrEnded, want-have), d.Close())
		}
	}
	d.mu.Lock()
	d.out, d.done = d.out[:want], true
	out := d.take()
	if len(d.at) == 1 && len(d.out) > 0 {
		out = append(out, Piece{d.out, d.at[0]})
	}
	d.mu.Unlock()
	return out, d.Close()
}

// Close ends the program. It is safe to call twice.
func (d *Decoder) Close() error {
	if d.cmd.ProcessState != nil {
		return nil
	}
	_ = d.in.Close()         // it may be closed already
	_ = d.cmd.Process.Kill() // it may have ended
	<-d.gone
	err := d.cmd.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return nil // it was killed
	}
	return err
}
