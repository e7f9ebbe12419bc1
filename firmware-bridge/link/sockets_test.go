package link

import "testing"

// caller is a device that has connected.
type caller struct {
	arrived
	gone bool
}

func (c *caller) hangUp() { c.gone = true }

// A device that gets through as the listening ends is sent away: nobody would hear it.
func TestArrivesTooLate(t *testing.T) {
	s := &Sockets{Listen: "127.0.0.1:0", Key: "key"}
	if _, err := s.Open(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	late := &caller{}
	s.arrive(late)
	if !late.gone {
		t.Error("it waits for ever")
	}
}
