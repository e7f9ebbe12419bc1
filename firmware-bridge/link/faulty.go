package link

import (
	"context"
	"math/rand/v2"
	"time"
)

// Faulty is a Dialer whose notifications get lost or swapped, as over a bad radio. It is for
// simulated devices.
type Faulty struct {
	Dialer  Dialer
	Loss    float64 // share of the notifications that are lost, 0 to 1
	Reorder bool    // one in ten comes after the next one
	Rand    *rand.Rand
}

// overdue is when a notification that was held back is delivered although no other came.
const overdue = 20 * time.Millisecond

func (f *Faulty) Connect(ctx context.Context) (Device, error) {
	d, err := f.Dialer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &faulty{tap: newTap(d), with: f}
	go w.pass()
	return w, nil
}

type faulty struct {
	tap
	with *Faulty
}

func (d *faulty) pass() {
	defer close(d.gone)
	defer close(d.out)
	in := d.Device.Notifications()
	var held []Notification
	send := func(list ...Notification) bool {
		for _, n := range list {
			select {
			case d.out <- n:
			case <-d.stop:
				return false
			}
		}
		return true
	}
	for {
		var late <-chan time.Time
		if held != nil {
			late = time.After(overdue)
		}
		select {
		case <-d.stop:
			return
		case <-late:
			if !send(held...) {
				return
			}
			held = nil
		case n, ok := <-in:
			if !ok {
				send(held...)
				return
			}
			if n.Char == Opened { // it is not sent over the link: this machine makes it
				if !send(n) {
					return
				}
				continue
			}
			if d.with.Rand.Float64() < d.with.Loss {
				continue
			}
			if held == nil && d.with.Reorder && d.with.Rand.IntN(10) == 0 {
				held = []Notification{n}
				continue
			}
			if !send(append([]Notification{n}, held...)...) {
				return
			}
			held = nil
		}
	}
}
