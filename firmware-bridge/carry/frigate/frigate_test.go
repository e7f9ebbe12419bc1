package frigate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/frigate"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
)

const jpeg = "\xff\xd8\xff\xe0 a picture"

func event(kind, id, rest string) []byte {
	start, _, _ := strings.Cut(id, "-")
	return fmt.Appendf(nil, `{"type":%q,"before":{},"after":{"id":%q,"camera":"door","label":"person","start_time":%s%s}}`, kind, id, start, rest)
}

func texts(events []memory.Event) (out []string) {
	once := map[memory.EventID]bool{} // a line comes again if the bridge does not know that it arrived
	for _, e := range carrytest.OfKind(events, memory.KindText) {
		if once[e.ID] {
			continue
		}
		once[e.ID] = true
		out = append(out, fmt.Sprintf("%d %s: %s", e.At.Unix(), e.Speaker, e.Text))
	}
	return out
}

// A Frigate publishes to a real broker, and each sighting becomes a line.
func TestRealBroker(t *testing.T) {
	m := linktest.StartMosquitto(t)
	n := carrytest.NewNode(t)
	path := carrytest.StatePath(t)
	options := carry.Options{Prefix: "frigate", Pictures: true}
	m.Publish(t, "frigate/available", []byte("online"), true)
	m.Publish(t, "frigate/door/person/snapshot", []byte(jpeg+" of yesterday"), true)

	run := func() (*carrytest.Bridge, func() carry.Report) {
		b := n.Bridge(t, path, frigate.Family, &link.MQTT{Feed: intake.FeedConfig{
			URL: m.URL, ClientID: "locket-bridge-pin", Username: m.User, Password: m.Password, Topics: frigate.Family.Topics(&options)}})
		b.Cfg.Options = options
		return b, b.Start(t)
	}
	until := func(want int) {
		t.Helper()
		n.Disk.Until(t, fmt.Sprintf("%d lines", want), func() bool { return len(texts(n.Disk.Events)) == want })
	}
	b, stop := run()
	n.Disk.Until(t, "Frigate runs", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindStatus)) >= 3 })

	// One object comes, is recognised, and goes; one is a false positive; of one only the end
	// arrives.
	m.Publish(t, "frigate/events", event("new", "1773489600.5-aaaaaa", ""), false)
	m.Publish(t, "frigate/events", event("new", "1773489610.0-bbbbbb", ""), false)
	m.Publish(t, "frigate/events", event("update", "1773489610.0-bbbbbb", `,"false_positive":true`), false)
	m.Publish(t, "frigate/door/person/snapshot", []byte(jpeg), true)
	m.Publish(t, "frigate/tracked_object_update", []byte(`{"type":"face","id":"1773489600.5-aaaaaa","name":"John","score":0.9,"camera":"door"}`), false)
	m.Publish(t, "frigate/events", event("end", "1773489600.5-aaaaaa", `,"end_time":1773489635.5,"has_snapshot":true,"entered_zones":["yard","driveway"]`), false)
	m.Publish(t, "frigate/events", event("end", "1773489700.0-cccccc", `,"end_time":1773489701.0`), false)
	until(2)
	// A description comes after the end, twice.
	for range 2 {
		m.Publish(t, "frigate/tracked_object_update", []byte(`{"type":"description","id":"1773489600.5-aaaaaa","description":"A man in a red coat rings."}`), false)
	}
	m.Publish(t, "frigate/events", []byte(`{"type":"end","after":{}}`), false)
	m.Publish(t, "frigate/events", event("new", "1773489800.0-dddddd", `,"sub_label":["Jane",0.8]`), false)
	m.Publish(t, "frigate/events", event("end", "1773489900.0-eeeeee", `,"end_time":1773489901.0`), false)
	until(4)
	stop()
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}
	// An object that was there when the bridge ended ends afterwards.
	_, stop = run()
	m.Publish(t, "frigate/events", event("end", "1773489800.0-dddddd", `,"end_time":1773489890.0`), false)
	until(5)
	stop()

	want := []string{
		"1773489600 camera door: The camera door saw a person, John, in yard, driveway, for 35s.",
		"1773489700 camera door: The camera door saw a person, for 1s.",
		"1773489600 Frigate: A man in a red coat rings.",
		"1773489900 camera door: The camera door saw a person, for 1s.",
		"1773489800 camera door: The camera door saw a person, Jane, for 1m30s.",
	}
	if got := texts(n.Disk.Events); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if photos := n.Disk.OfKind(memory.KindPhoto); len(photos) != 1 || string(photos[0].Data) != jpeg {
		t.Errorf("%d photos", len(photos))
	}
	gaps := n.Disk.OfKind(memory.KindGap)
	if len(gaps) != 1 || !strings.Contains(gaps[0].Reason, "frigate: event: id is missing") {
		t.Errorf("%+v", gaps)
	}
}

// The vectors, in order, are one sighting, and what was found out about it.
func TestVectors(t *testing.T) {
	q := &link.Queue{Patience: carrytest.Limit}
	for _, name := range []string{"session.json", "mqtt-examples.json"} {
		b, err := os.ReadFile("../../frame/frigate/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var list []struct {
			Section, Topic string
			Payload        json.RawMessage
		}
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			topic := m.Topic
			if topic == "" {
				topic = strings.Split(m.Section, "`")[1]
			}
			var text string
			if json.Unmarshal(m.Payload, &text) == nil {
				m.Payload = []byte(text)
			}
			q.Messages = append(q.Messages, link.Notification{Char: topic, Data: m.Payload})
		}
	}
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), frigate.Family, q)
	b.Cfg.Options = carry.Options{Prefix: "frigate"}
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Sightings != 1 || rep.Spoilt != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	got := texts(n.Disk.Events)
	if want := "1607123955 camera front_door: The camera front_door saw a person, John Smith, with the number plate ABC12345, in yard, driveway, for 35s."; len(got) == 0 || got[0] != want {
		t.Errorf("%q", got)
	}
}

// A lost end is reported as unknown, and a false positive is never reported.
func TestSimulated(t *testing.T) {
	for _, c := range []struct {
		name string
		loss float64
	}{{"a good link", 0}, {"a bad link", .3}} {
		t.Run(c.name, func(t *testing.T) {
			n := carrytest.NewNode(t)
			b := n.Bridge(t, carrytest.StatePath(t), frigate.Family, &link.Faulty{
				Dialer: frigate.Family.Simulate(carry.Play{Seed: 5, Amount: 50, Reboot: 2}),
				Loss:   c.loss, Rand: rand.New(rand.NewPCG(5, 5)),
			})
			b.Cfg.Options = carry.Options{Prefix: "frigate"}
			rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
			if err != nil || rep.Spoilt != 0 || rep.Connections != 3 {
				t.Errorf("%+v, %v", rep, err)
			}
			got := texts(n.Disk.Events)
			if c.loss == 0 && len(got) != 40 || c.loss > 0 && (len(got) < 20 || len(got) >= 40) {
				t.Errorf("%d lines", len(got))
			}
			for _, line := range got {
				if !strings.Contains(line, ", for ") {
					t.Error(line)
				}
			}
		})
	}
}

// If there are more objects than room, the one without news for the longest time is reported as far
// as it is known.
func TestObjectsAreBounded(t *testing.T) {
	q := &link.Queue{Patience: carrytest.Limit}
	for i := range 300 {
		q.Messages = append(q.Messages, link.Notification{Char: "frigate/events", Data: event("new", fmt.Sprintf("%d.0-aaaaaa", 1773489600+i), "")})
	}
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), frigate.Family, q)
	b.Cfg.Options = carry.Options{Prefix: "frigate"}
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Sightings != 300-256 {
		t.Errorf("%+v, %v", rep, err)
	}
	if got := texts(n.Disk.Events); len(got) != 300-256 || !strings.HasSuffix(got[0], "when it went is not known.") {
		t.Errorf("%d: %q", len(got), got[0])
	}
}

// If an object went while the node took nothing and nothing could be stored on disk, its line comes
// with the next start.
func TestEndWhileTheNodeIsAway(t *testing.T) {
	n := carrytest.NewNode(t)
	path := carrytest.StatePath(t)
	play := func(messages ...link.Notification) *carrytest.Bridge {
		b := n.Bridge(t, path, frigate.Family, &link.Queue{Messages: messages})
		b.Cfg.Options = carry.Options{Prefix: "frigate"}
		return b
	}
	n.Disk.Refuse(true)
	b := play(link.Notification{Char: "frigate/events", Data: event("new", "1773489600.0-aaaaaa", "")},
		link.Notification{Char: "frigate/events", Data: event("end", "1773489600.0-aaaaaa", `,"end_time":1773489610.0`)})
	ctx, cancel := context.WithCancel(carrytest.Deadline(t))
	defer cancel()
	told := b.NoteWith("The camera door saw a person")
	go func() {
		<-told
		_ = b.Cfg.Client.Close() // the process ends
		cancel()
	}()
	if rep, err := carry.Run(ctx, b.Cfg); rep.Sightings != 1 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if got := texts(n.Disk.Events); len(got) != 0 {
		t.Fatalf("%q", got)
	}

	n.Disk.Refuse(false)
	b = play(link.Notification{Char: "frigate/available", Data: []byte("online")})
	if rep, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil || rep.Waiting != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if got := texts(n.Disk.Events); len(got) != 1 || !strings.HasSuffix(got[0], ", for 10s.") {
		t.Errorf("%q", got)
	}
}

// The node is told that nobody watches the house any more, even if the bridge's state can't be
// written.
func TestOfflineWithoutState(t *testing.T) {
	n, path := carrytest.NewNode(t), carrytest.StatePath(t)
	b := n.Bridge(t, path, frigate.Family, &link.Queue{Patience: carrytest.Limit, Messages: []link.Notification{
		{Char: "frigate/events", Data: event("new", "1773489600.0-aaaaaa", "")}}})
	b.Cfg.Options = carry.Options{Prefix: "frigate"}
	tell, times := b.Cfg.OnNote, 0
	b.Cfg.OnNote = func(note carry.Note) {
		tell(note)
		var err error
		if times++; note.What == "connected" && times == 1 {
			err = errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) // nothing can be written there
		} else if note.What == "disconnected" {
			err = os.Remove(path)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if rep, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil || rep.Connections != 2 {
		t.Fatalf("%+v, %v", rep, err)
	}
	offline := 0
	for _, e := range n.Disk.OfKind(memory.KindStatus) {
		if strings.Contains(fmt.Sprint(e), "no connection to Frigate's broker") {
			offline++
		}
	}
	if offline != 2 {
		t.Errorf("%d times offline, want each time that the connection ended", offline)
	}
}
