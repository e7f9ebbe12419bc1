package link

import "sync"

// tap is a Device between another one and its reader. It passes on the other's notifications,
// changed as the embedding type likes. A goroutine of that type sends to out until stop is closed,
// and then closes out and gone.
type tap struct {
	Device
	out  chan Notification
	stop chan struct{} // closed by Close
	gone chan struct{} // closed when nothing more is sent to out
	once sync.Once
}

func newTap(d Device) tap {
	return tap{Device: d, out: make(chan Notification), stop: make(chan struct{}), gone: make(chan struct{})}
}

func (t *tap) Notifications() <-chan Notification { return t.out }

// Close implements [Device]. It returns when nothing more is sent to out.
func (t *tap) Close() error {
	var err error
	t.once.Do(func() {
		close(t.stop)
		err = t.Device.Close()
		<-t.gone
	})
	return err
}
