package intake

import (
	"net"
	"testing"

	"github.com/locket-dev/locket/internal/testing/fewfiles"
)

// After a time without file descriptors the broker takes connections again.
func TestBrokerWithoutDescriptors(t *testing.T) {
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(&fewfiles.Listener{Listener: raw}, nil, 8)
	l.dismiss = func() {}
	came, ended := make(chan bool, 1), make(chan bool)
	go func() {
		l.Serve(func(string, net.Conn) error { came <- true; return nil })
		close(ended)
	}()
	c, err := net.Dial("tcp", raw.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	select {
	case <-came:
	case <-ended:
		t.Error("it takes no connections any more")
	}
	l.Close(nil)
	<-ended
}
