package link

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// Pair is a Dialer for a device that consists of two peripherals, such as a left and a right arm.
// Its characteristics are theirs, prefixed with Left or Right. The connection ends when either of
// the two does.
type Pair struct{ Left, Right Dialer }

// Prefixes of the characteristics of a Pair.
const (
	Left  = "left/"
	Right = "right/"
)

// Connect connects to both.
func (p *Pair) Connect(ctx context.Context) (Device, error) {
	l, err := p.Left.Connect(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.Right.Connect(ctx)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	d := &paired{left: l, right: r, out: make(chan Notification), stop: make(chan struct{}), gone: make(chan struct{})}
	go d.pass()
	return d, nil
}

type paired struct {
	left, right Device
	out         chan Notification
	stop        chan struct{} // closed by Close
	gone        chan struct{} // closed when nothing more is sent to out
	once        sync.Once
	err         error // why it ended; set before out is closed
}

func (d *paired) pass() {
	defer close(d.gone)
	defer close(d.out)
	l, r := d.left.Notifications(), d.right.Notifications()
	for {
		var n Notification
		var ok bool
		side, of := Left, d.left
		select {
		case n, ok = <-l:
		case n, ok = <-r:
			side, of = Right, d.right
		case <-d.stop:
			return
		}
		if !ok {
			d.err = of.Err()
			return
		}
		n.Char = side + n.Char
		select {
		case d.out <- n:
		case <-d.stop:
			return
		}
	}
}

func (d *paired) side(char string) (Device, string) {
	if c, ok := strings.CutPrefix(char, Right); ok {
		return d.right, c
	}
	return d.left, strings.TrimPrefix(char, Left)
}

// MTU is the smaller one.
func (d *paired) MTU() int { return min(d.left.MTU(), d.right.MTU()) }

func (d *paired) Read(ctx context.Context, char string) ([]byte, error) {
	of, c := d.side(char)
	return of.Read(ctx, c)
}

func (d *paired) Write(ctx context.Context, char string, b []byte) error {
	of, c := d.side(char)
	return of.Write(ctx, c, b)
}

func (d *paired) Subscribe(ctx context.Context, char string) error {
	of, c := d.side(char)
	return of.Subscribe(ctx, c)
}

func (d *paired) Notifications() <-chan Notification { return d.out }

func (d *paired) Err() error {
	<-d.gone
	return d.err
}

func (d *paired) Close() error {
	d.once.Do(func() { close(d.stop) })
	err := errors.Join(d.left.Close(), d.right.Close())
	<-d.gone
	return err
}
