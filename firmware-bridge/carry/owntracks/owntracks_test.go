package owntracks_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/owntracks"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
)

var options = carry.Options{Prefix: "owntracks", Device: "jane/phone"}

func dialer(m *linktest.Mosquitto) link.Dialer {
	return &link.MQTT{Feed: intake.FeedConfig{URL: m.URL, ClientID: "locket-bridge-pin", Username: m.User, Password: m.Password, Topics: owntracks.Family.Topics(&options)}}
}

func fix(at int64, lat float64) []byte {
	return fmt.Appendf(nil, `{"lat":%g,"lon":5.1,"tst":%d,"acc":9,"batt":94,"_type":"location"}`, lat, at)
}

const then = 1773489600

// A phone publishes to a real broker. A fix that the broker retained keeps its own time, what comes
// while the bridge is away waits, and nothing is there twice.
func TestRealBroker(t *testing.T) {
	m := linktest.StartMosquitto(t)
	n := carrytest.NewNode(t)
	path := carrytest.StatePath(t)
	m.Publish(t, "owntracks/jane/phone", fix(then, 50), true) // before anybody listens
	m.Publish(t, "owntracks/john/phone", fix(then, 10), true) // the phone of somebody else

	run := func() (*carrytest.Bridge, func() carry.Report) {
		b := n.Bridge(t, path, owntracks.Family, dialer(m))
		b.Cfg.Options = options
		return b, b.Start(t)
	}
	places := func(want int) {
		t.Helper()
		n.Disk.Until(t, fmt.Sprintf("%d places", want), func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindLocation)) == want })
	}
	b, stop := run()
	places(1)
	m.Publish(t, "owntracks/jane/phone", fix(then+60, 51), true)
	m.Publish(t, "owntracks/jane/phone/event", []byte(`{"_type":"transition","acc":6,"desc":"Office","event":"enter","lat":51,"lon":5.1,"t":"c","tst":1773489661,"wtst":1}`), false)
	m.Publish(t, "owntracks/jane/phone", []byte(`{"_type":"location","lon":5.1,"tst":1773489662}`), false)
	m.Publish(t, "owntracks/jane/phone", fix(4102444800, 51), false) // in the year 2100
	m.Publish(t, "owntracks/jane/phone", []byte(`{"_type":"encrypted","data":"YWJjZGUK"}`), false)
	m.Publish(t, "owntracks/jane/phone", fix(then+120, 52), false)
	places(4)
	stop()
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}

	// While the bridge is away, the broker stores messages, and is restarted itself.
	m.Publish(t, "owntracks/jane/phone", fix(then+180, 53), false)
	m.Publish(t, "owntracks/jane/phone", fix(then+120, 52), false) // repeated, as after a lost PUBACK
	m.Stop(t)
	m.Start(t)
	_, stop = run()
	places(5)
	m.Publish(t, "owntracks/jane/phone", fix(then+240, 54), false)
	places(6)
	stop()

	var got []string
	for _, e := range n.Disk.OfKind(memory.KindLocation) {
		if e.Clock != memory.ClockWall {
			t.Errorf("%+v", e)
		}
		got = append(got, fmt.Sprintf("%d:%g:%s", e.At.Unix()-then, e.Place.Lat, e.Place.Name))
	}
	if s := strings.Join(got, " "); s != "0:50: 60:51: 61:51:Office 120:52: 180:53: 240:54:" {
		t.Error(s)
	}
	var gaps []string
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		gaps = append(gaps, e.Reason)
	}
	for _, want := range []string{"location: lat is missing", "tst 2100-01-01T00:00:00Z is not a plausible time", "places came encrypted"} {
		if !strings.Contains(strings.Join(gaps, "\n"), want) {
			t.Errorf("no gap says %q: %q", want, gaps)
		}
	}
}

// The broker deletes a place only once the node has it on disk.
func TestBrokerKeepsUnstoredPlaces(t *testing.T) {
	q := &link.Queue{Messages: []link.Notification{{Char: "owntracks/jane/phone", Data: fix(then, 50)}}}
	n := carrytest.NewNode(t)
	goOn := n.Disk.Stop(t)
	b := n.Bridge(t, carrytest.StatePath(t), owntracks.Family, q)
	b.Cfg.Options = options
	again := 0
	tell := b.Cfg.OnNote
	b.Cfg.OnNote = func(note carry.Note) {
		tell(note)
		if note.What == "connected" {
			if again++; again == 3 {
				if q.Acked() != 0 {
					t.Error("the broker was told to forget what is nowhere else")
				}
				goOn()
			}
		}
	}
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Refused+rep.Waiting != 0 || q.Acked() != 1 {
		t.Errorf("%+v, %d acknowledged, %v", rep, q.Acked(), err)
	}
	if got := n.Disk.OfKind(memory.KindLocation); len(got) != 1 {
		t.Errorf("%d places", len(got))
	}
}

// A walk over a link that loses three in ten packets: each place is there, once.
func TestLossyLink(t *testing.T) {
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), owntracks.Family, &link.Faulty{
		Dialer: owntracks.Family.Simulate(carry.Play{Seed: 7, Amount: 100, Reboot: 3, ClockOff: 3 * time.Hour}),
		Loss:   .3, Reorder: true, Rand: rand.New(rand.NewPCG(7, 7)),
	})
	b.Cfg.Options = options
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Connections < 4 || rep.Spoilt != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	seen := map[string]bool{}
	for _, e := range n.Disk.OfKind(memory.KindLocation) {
		seen[fmt.Sprint(e.At, *e.Place)] = true
	}
	if got := len(n.Disk.OfKind(memory.KindLocation)); got != 105 || len(seen) != 105 {
		t.Errorf("%d places, %d different ones", got, len(seen))
	}
}

// Each vector is published under its topic: good ones arrive, and bad ones are named.
func TestVectors(t *testing.T) {
	folder := "../../frame/owntracks/testdata"
	b, err := os.ReadFile(filepath.Join(folder, "topics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var topics []struct{ Topic, File string }
	if err := json.Unmarshal(b, &topics); err != nil {
		t.Fatal(err)
	}
	q := &link.Queue{Patience: carrytest.Limit}
	for _, c := range topics {
		data, err := os.ReadFile(filepath.Join(folder, strings.TrimPrefix(c.File, "json-schema/")))
		if err != nil {
			t.Fatal(err)
		}
		q.Messages = append(q.Messages, link.Notification{Char: c.Topic, Data: data})
	}
	n := carrytest.NewNode(t)
	bridge := n.Bridge(t, carrytest.StatePath(t), owntracks.Family, q)
	bridge.Cfg.Options = options
	rep, err := carry.Run(carrytest.Deadline(t), bridge.Cfg)
	if err != nil || rep.Places != 4 || rep.Spoilt != 1 { // three fixes and a transition; one is encrypted
		t.Errorf("%+v, %v", rep, err)
	}
}

// A fix whose accuracy is a meaningless number is carried, and holds up nothing behind it: its
// message would come again on each connection.
func TestHugeAccuracy(t *testing.T) {
	t.Parallel()
	q := &link.Queue{Patience: carrytest.Limit}
	for i, acc := range []string{"1e300", "9"} {
		q.Messages = append(q.Messages, link.Notification{Char: "owntracks/jane/phone", Data: fmt.Appendf(nil, `{"_type":"location","lat":50,"lon":5.1,"tst":%d,"acc":%s}`, then+i, acc)})
	}
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), owntracks.Family, q)
	b.Cfg.Options = options
	if rep, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil || rep.Connections != 1 || rep.Places != 2 {
		t.Errorf("%+v, %v", rep, err)
	}
	if got := n.Disk.OfKind(memory.KindLocation); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}
