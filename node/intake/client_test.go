package intake_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// The broker is away during a whole replay, and comes back.
func TestBrokerAway(t *testing.T) {
	n := external(t, intake.Config{})
	n.mosquitto.stop(t)
	c := n.wear(t, wear.Config{Window: 128})
	for i := range 100 {
		say(t, c, fmt.Sprint("line ", i))
	}
	if c.Pending() != 100 {
		t.Errorf("%d wait", c.Pending())
	}
	n.mosquitto.start(t)
	flush(t, c)
	got := n.disk.of(memory.KindText)
	if len(got) != 100 {
		t.Errorf("%d arrived", len(got))
	}
	for i, e := range got {
		if e.Text != fmt.Sprint("line ", i) {
			t.Fatalf("%d is %q", i, e.Text)
		}
	}
}

// The node is away while devices publish: the broker's session keeps the
// messages.
func TestNodeAway(t *testing.T) {
	n := external(t, intake.Config{})
	if err := n.client.Close(); err != nil {
		t.Fatal(err)
	}
	c := n.wear(t, wear.Config{Window: 128})
	if err := c.Ready(deadline(t)); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		say(t, c, fmt.Sprint("line ", i))
	}
	n.connect(t)
	flush(t, c)
	if got := n.disk.of(memory.KindText); len(got) != 100 {
		t.Errorf("%d arrived", len(got))
	}
}

// A broker whose certificate is not from the given authority is rejected.
func TestTLS(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	n := newIntake(t, intake.Config{})
	n.mosquitto = newMosquitto(t, n.reg, ca)
	n.mosquitto.start(t)
	n.url = n.mosquitto.url
	n.connect(t)
	c := n.wear(t, wear.Config{})
	if err := say(t, c, "sealed").Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	wrong, err := intake.Dial(n.in, intake.ClientConfig{
		URL: n.url, ClientID: "other", Username: "node", Password: n.mosquitto.password, TLS: other.client(t, "node"), MaxWait: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	for over := deadline(t); ; {
		err := wrong.Err()
		if err != nil && strings.Contains(err.Error(), "certificate") {
			break
		}
		if err == nil || over.Err() != nil {
			t.Fatalf("under another authority: %v", err)
		}
		runtime.Gosched()
	}
	wrong.Close()

	cert, key := ca.server(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := intake.Listen(n.in, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: n.reg, TLS: &tls.Config{Certificates: []tls.Certificate{pair}}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	trust, err := intake.TLSConfig(ca.file, "", "")
	if err != nil {
		t.Fatal(err)
	}
	e := n.wear(t, wear.Config{Device: "glasses", URL: "ssl://" + b.Addr().String(), TLS: trust})
	if err := say(t, e, "sealed too").Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if got := n.disk.of(memory.KindText); len(got) != 2 {
		t.Errorf("%d arrived", len(got))
	}
}

// An event that should not have been retained is not taken when the broker
// delivers it again, because it was said in a pause.
func TestRetainedEvents(t *testing.T) {
	n := external(t, intake.Config{Paused: true})
	r := n.raw(t, "pin", true)
	topic := wire.TopicOf("pin", memory.KindText)
	if err := await(t, r.Publish(topic, 1, true, `{"seq":1,"boot":1,"text":"said in a pause"}`)); err != nil {
		t.Fatal(err)
	}
	if a := r.ack(t); a.Dropped != wire.DroppedPaused {
		t.Fatalf("%+v", a)
	}
	n.in.SetPaused(false)
	again, err := intake.Dial(n.in, intake.ClientConfig{URL: n.url, ClientID: "again", Username: "node", Password: n.mosquitto.password})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Ready(deadline(t)); err != nil {
		t.Fatal(err)
	}
	for seq := 2; seq == 2 || n.in.Stats().Retained == 0 && seq < 1000; seq++ { // the retained message arrives meanwhile
		r.publish(t, memory.KindText, fmt.Sprintf(`{"seq":%d,"boot":1,"text":"said after it"}`, seq))
		if a := r.ack(t); a.Dropped != "" || a.Error != "" {
			t.Errorf("%+v", a)
		}
	}
	for _, e := range n.disk.of(memory.KindText) {
		if e.Text != "said after it" {
			t.Errorf("on disk: %+v", e)
		}
	}
	if s := n.in.Stats(); s.Retained != 1 {
		t.Errorf("%+v", s)
	}
}

// A configuration that can't work is an error at once.
func TestDialErrors(t *testing.T) {
	n := newIntake(t, intake.Config{})
	for _, c := range []intake.ClientConfig{{}, {URL: "localhost"}, {URL: "tcp://"}, {URL: "tcp://x:1"}, {URL: "ftp://x:1", ClientID: "x"}} {
		if _, err := intake.Dial(n.in, c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	if _, err := intake.TLSConfig("/does/not/exist", "", ""); err == nil {
		t.Error("a missing file was taken")
	}
	if _, _, err := intake.NewDevice("Pin 1"); err == nil {
		t.Error("a bad name was taken")
	}
}

// BenchmarkEmbedded measures from publication to acknowledgement, over the real
// journal: one device, 64 messages under way.
func BenchmarkEmbedded(b *testing.B) {
	n := embedded(b, intake.Config{})
	c := n.wear(b, wear.Config{Window: 64})
	if err := c.Ready(deadline(b)); err != nil {
		b.Fatal(err)
	}
	audio := make([]byte, 3200) // 100 ms of PCM16 at 16 kHz
	b.ResetTimer()
	for b.Loop() {
		if _, err := c.Publish(context.Background(), &wire.Audio{Header: wire.Header{At: time.Now()}, Codec: "pcm16", Rate: 16000, Data: audio}); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	s := n.in.Stats()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(s.Journalled)/float64(s.Batches), "events/sync")
}
