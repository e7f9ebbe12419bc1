package link_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/node/intake"
)

// However much the broker kept while nobody was connected, all of it comes, in order. Acknowledged
// messages come once, unless the connection closed before the broker got the acknowledgement.
func TestBacklogOfTheBroker(t *testing.T) {
	t.Parallel()
	m := linktest.StartMosquitto(t)
	d := &link.MQTT{Feed: intake.FeedConfig{URL: m.URL, ClientID: "bridge", Username: m.User, Password: m.Password, Topics: []string{"house/#"}}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	connect := func() link.Device {
		t.Helper()
		dev, err := d.Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return dev
	}
	shut := func(dev link.Device) {
		t.Helper()
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
	shut(connect())
	const many = 40
	for i := range many {
		m.Publish(t, fmt.Sprint("house/", i), []byte{1}, false)
	}
	again := 0 // acknowledged as the connection closed, before the broker got the acknowledgement
	for _, from := range []int{0, many / 2} {
		dev := connect()
		late := time.After(10 * time.Minute)
		for i := from; i < many; i++ {
			select {
			case n := <-dev.Notifications():
				if k, err := strconv.Atoi(strings.TrimPrefix(n.Char, "house/")); err == nil && from > 0 && i == from && k < from {
					again++
					n.Ack()
					i--
					continue
				}
				if n.Char != fmt.Sprint("house/", i) {
					t.Fatalf("%s came in place of %d", n.Char, i)
				}
				if i < many/2 {
					n.Ack()
				}
			case <-late:
				t.Fatalf("message %d did not come", i)
			}
			if i == many/2+5 && from == 0 {
				break
			}
		}
		shut(dev)
	}
	if again == many/2 {
		t.Error("the broker heard of no acknowledgement")
	}
}
