package link

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// Recorder is a Dialer whose connections are written to a capture.
type Recorder struct {
	Dialer Dialer
	Name   string // name of the device, for the capture's reader

	mu  sync.Mutex
	out io.Writer
	err error
}

// NewRecorder records the traffic of d's connections.
func NewRecorder(d Dialer, name string, out io.Writer) *Recorder {
	return &Recorder{Dialer: d, Name: name, out: out}
}

// Err returns the first write error: from there on the capture is incomplete.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Recorder) write(l line, at time.Time, data []byte) {
	l.T, l.Hex = at.UnixMilli(), hex.EncodeToString(data)
	b, err := json.Marshal(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.err == nil {
		_, err = r.out.Write(append(b, '\n'))
	}
	r.err = errors.Join(r.err, err)
}

func (r *Recorder) Connect(ctx context.Context) (Device, error) {
	d, err := r.Dialer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	r.write(line{Op: opConnect, Device: r.Name, MTU: d.MTU()}, time.Now(), nil)
	rec := &recorded{tap: newTap(d), to: r}
	go rec.pass()
	return rec, nil
}

type recorded struct {
	tap
	to   *Recorder
	once sync.Once
}

func (d *recorded) pass() {
	defer close(d.gone)
	defer close(d.out)
	for n := range d.Device.Notifications() {
		l := line{Char: n.Char}
		if len(n.Char) != 36 || n.Retained || strings.Contains(n.Char, "/") {
			l = line{Topic: n.Char, Retain: n.Retained}
		}
		d.to.write(l, n.At, n.Data)
		select {
		case d.out <- n:
		case <-d.stop:
			return
		}
	}
}

func (d *recorded) Read(ctx context.Context, char string) ([]byte, error) {
	b, err := d.Device.Read(ctx, char)
	if err == nil {
		d.to.write(line{Op: opRead, Char: char}, time.Now(), b)
	}
	return b, err
}

func (d *recorded) Write(ctx context.Context, char string, value []byte) error {
	err := d.Device.Write(ctx, char, value)
	if err == nil {
		d.to.write(line{Op: opWrite, Char: char}, time.Now(), value)
	}
	return err
}

func (d *recorded) Close() error {
	var err error
	d.once.Do(func() {
		err = d.tap.Close()
		d.to.write(line{Op: opDisconnect}, time.Now(), nil)
	})
	return err
}
