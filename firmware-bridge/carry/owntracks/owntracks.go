// Package owntracks is the session of a phone that publishes its place with OwnTracks, through an
// MQTT broker.
package owntracks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/owntracks"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is OwnTracks' entry in the list of families.
var Family = carry.Family{
	Name: "owntracks", Short: "Carry the places that a phone publishes with OwnTracks",
	Long: `Subscribes to the OwnTracks topics of one phone at a broker, and publishes its places,
and the regions that it enters and leaves, to the node as the wearable --name. --device
says whose they are, because other people's phones may publish to the same broker. The
broker keeps what comes while locket-bridge does not run, and forgets it only after
the node has acknowledged it.`,
	Carrier: carry.MQTT, Prefix: "owntracks", Accepts: carry.WithDevice, Device: "the phone, as in its topics: `user/device`",
	Topics: func(o *carry.Options) []string {
		base := o.Prefix + "/" + o.Device
		return []string{base, base + "/event"}
	},
	Begin: begin, Simulate: simulate,
	SceneKinds: []memory.Kind{memory.KindLocation, memory.KindSensor},
}

const partName = "owntracks"

// part is stored across restarts.
type part struct {
	Boot uint64 `json:"boot"` // boot under which places are published
}

type session struct {
	*carry.Conn
	part    part
	battery int
	latest  time.Time // time of the battery level
	hidden  bool      // a person was told that messages are encrypted
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, battery: -1}
	if err := c.State.Stored(partName, &s.part, &s.part.Boot); err != nil {
		return nil, err
	}
	s.Note("connected", "waiting for %s", cmp.Or(c.Options.Device, "the phone"))
	return s, s.Greet(ctx, "OwnTracks")
}

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.TellLosses(ctx, false); err != nil {
		return err
	}
	who, leaf, ok := frame.Leaf(s.Options.Prefix, n.Char)
	if !ok || leaf != "" && leaf != "event" || s.Options.Device != "" && who != s.Options.Device {
		s.AckAfter(n)
		return nil
	}
	list, err := frame.Parse(n.Data)
	if err != nil {
		s.NoteDamaged(err.Error())
	}
	var receipts []*wear.Receipt
	for _, m := range list {
		r, err := s.message(ctx, n, m)
		if err != nil {
			return err
		}
		if r != nil {
			receipts = append(receipts, r)
		}
	}
	s.AckAfter(n, receipts...)
	return nil
}

func (s *session) message(ctx context.Context, n link.Notification, m any) (*wear.Receipt, error) {
	switch m := m.(type) {
	case frame.Location:
		p := memory.Place{Lat: m.Lat, Lon: m.Lon, Accuracy: m.Acc, Name: m.Point}
		if len(m.Regions) > 0 {
			p.Name = m.Regions[0]
		}
		if err := s.charge(ctx, m, n.Retained); err != nil {
			return nil, err
		}
		return s.place(ctx, "location", m.At, p)
	case frame.Transition:
		p := memory.Place{Lat: m.Lat, Lon: m.Lon, Accuracy: m.Acc}
		if m.Enter {
			p.Name = m.Region
		}
		return s.place(ctx, "transition", m.At, p)
	case frame.Will:
		if !n.Retained { // a retained one may be of any age
			return nil, s.Status(ctx, "offline", "the phone is not connected to its broker")
		}
	case frame.Encrypted:
		s.Report.Spoilt++
		if !s.hidden {
			s.hidden = true
			s.Note("warning", "the app encrypts what it publishes, which can't be read here: remove the secret from its settings, and use ssl://")
			return nil, s.Gap(ctx, s.Now, "places came encrypted, and can't be read")
		}
	}
	return nil, nil
}

// place publishes where the phone was. If a place comes again, after a new connection or because
// the broker retained it, it has the same identity, and the node stores it once.
func (s *session) place(ctx context.Context, kind string, at time.Time, p memory.Place) (*wear.Receipt, error) {
	if !wire.Believed(at, s.Now) {
		s.NoteDamaged(fmt.Sprintf("owntracks: %s: tst %s is not a plausible time", kind, at.Format(time.RFC3339)))
		return nil, nil
	}
	if len(p.Name) > memory.MaxName {
		s.NoteDamaged(fmt.Sprintf("owntracks: %s: a name of %d bytes, at most %d", kind, len(p.Name), memory.MaxName))
		return nil, nil
	}
	p.Accuracy = min(p.Accuracy, wire.MaxAcc)
	seq := carry.Seq(fmt.Appendf(nil, "%s %d %v %v %s", kind, at.UnixMilli(), p.Lat, p.Lon, p.Name))
	s.Report.Places++
	s.Note("place", "%s %.5f, %.5f %s", at.Format(time.RFC3339), p.Lat, p.Lon, p.Name)
	return s.Publish(ctx, &wire.Location{Header: wire.Header{Boot: s.part.Boot, Seq: seq, At: at}, Place: p})
}

// charge publishes the battery level if it has changed since the last message.
func (s *session) charge(ctx context.Context, m frame.Location, retained bool) error {
	if m.Battery < 0 || retained || m.Battery == s.battery || m.At.Before(s.latest) {
		return nil
	}
	s.battery, s.latest = m.Battery, m.At
	return s.PublishLive(ctx, &wire.Sensor{Header: wire.Header{At: m.At}, Name: "battery", Values: []float64{float64(m.Battery)}, Unit: "%"})
}

func (s *session) Tick(ctx context.Context, _ time.Time) error { return s.TellLosses(ctx, false) }

// Command implements [carry.Session]. A phone takes no commands here; while the wearer pauses, the
// client throws places away.
func (s *session) Command(context.Context, *wire.Cmd) error { return nil }

func (s *session) End(ctx context.Context) error {
	return errors.Join(s.TellLosses(ctx, true), s.Status(ctx, "offline", "no connection to the broker that has the places"))
}

// simulate makes a phone on a walk: a fix each minute up to the current time, the last one
// retained. Now and then it enters a region.
func simulate(p carry.Play) link.Dialer {
	r := rand.New(rand.NewPCG(p.Seed, 1))
	q := &link.Queue{HalfwayEnds: p.Reboot}
	n := cmp.Or(p.Amount, 60)
	lat, lon, topic := 52.5, 13.4, "owntracks/jane/phone"
	if len(p.Day) > 0 {
		q.Messages, n = lived(p, topic), 0
	}
	for i := range n {
		at := time.Now().Add(p.ClockOff + time.Duration(i-n)*time.Minute).Unix()
		lat, lon = lat+(r.Float64()-.5)/1000, lon+(r.Float64()-.5)/1000
		q.Messages = append(q.Messages, link.Notification{Char: topic,
			Data: fmt.Appendf(nil, `{"_type":"location","lat":%.6f,"lon":%.6f,"acc":%d,"batt":%d,"tst":%d}`, lat, lon, 5+r.IntN(30), 100-i%80, at)})
		if i%20 == 10 {
			q.Messages = append(q.Messages, link.Notification{Char: topic + "/event",
				Data: fmt.Appendf(nil, `{"_type":"transition","event":"enter","desc":"Office","acc":10,"lat":%.6f,"lon":%.6f,"tst":%d,"wtst":1}`, lat, lon, at)})
		}
	}
	if len(q.Messages) == 0 {
		return q // the day has batteries only
	}
	q.Retained = []link.Notification{{Char: topic, Data: q.Messages[0].Data}}
	return q
}

// lived makes fixes of the places of a day, with the battery level at that time.
func lived(p carry.Play, topic string) (out []link.Notification) {
	battery := 100.
	for _, s := range p.Day {
		if s.Kind == memory.KindSensor {
			battery = s.Values[0]
			continue
		}
		out = append(out, link.Notification{Char: topic, Data: fmt.Appendf(nil, `{"_type":"location","lat":%.6f,"lon":%.6f,"acc":%d,"batt":%d,"tst":%d,"poi":%q}`,
			s.Place.Lat, s.Place.Lon, int(s.Place.Accuracy), int(battery), s.At.Add(p.ClockOff).Unix(), s.Place.Name)})
	}
	return out
}
