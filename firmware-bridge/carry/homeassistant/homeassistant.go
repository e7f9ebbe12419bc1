// Package homeassistant is the session of a house whose Home Assistant publishes by mqtt_statestream what becomes of its
// things: doors, locks and motion as lines, and what its sensors measure.
package homeassistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/homeassistant"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is the house's line in the list of families.
var Family = carry.Family{
	Name: "homeassistant", Short: "Carry what becomes of the things in a Home Assistant",
	Long: `Subscribes to what Home Assistant's integration mqtt_statestream publishes at a broker, and
publishes a line of text when a door is opened, a lock is locked or somebody moves, and what
sensors measure, to the node as the wearable --name. What is carried is chosen in Home
Assistant, by the integration's include and exclude. Nothing is ever sent to the house.`,
	Carrier: carry.MQTT, Prefix: "statestream",
	Topics: func(o *carry.Options) []string { return frame.Topics(o.Prefix) },
	Begin:  begin, Simulate: simulate,
}

const (
	partName    = "homeassistant"
	maxThings   = 1024
	settle      = 250 * time.Millisecond // in which a state's name comes behind it
	stamp       = 5 * time.Second        // in which its time does, where the house says times
	maxTimeless = 20                     // states without a time, one after the other: the house says times no more
	sensorEvery = 5 * time.Minute        // of one sensor
)

// part is what must outlive the process.
type part struct {
	Boot   uint64           `json:"boot"` // under which changes are published
	Things map[string]thing `json:"things"`
	Times  bool             `json:"times,omitempty"` // the house says when something has changed
}

// thing is what was last known of an entity.
type thing struct {
	State   string    `json:"state"`            // that says something
	Changed time.Time `json:"changed,omitzero"` // as the house says; zero: it did not
	At      time.Time `json:"at,omitzero"`      // what was published of it is of then
	Told    time.Time `json:"told,omitzero"`    // of a sensor: the time of the last reading that was published
}

// same reports whether a state, with the time of its change or zero, is no news. A state whose time came too late was
// published as of when it came.
func (t thing) same(state string, changed time.Time) bool {
	return t.State == state && (changed.IsZero() || changed.Equal(t.Changed) || t.Changed.IsZero() && changed.Sub(t.At).Abs() < 2*stamp)
}

// about is what is known of an entity besides; it comes again with each connection.
type about struct {
	name, class, unit string
	changed           time.Time // that came before its state
}

// waiting is a message that is not settled yet.
type waiting struct {
	n       link.Notification
	m       frame.Message
	changed time.Time // of a state
}

type session struct {
	*carry.Conn
	part  part             // what the node has
	now   map[string]thing // what was published, too
	about map[string]about // by entities, as part.Things
	queue []waiting        // in order
	bare  int              // states that came without a time since one last came
	many  bool             // a person was told that there are too many things
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, about: map[string]about{}}
	if err := c.State.Stored(partName, &s.part, &s.part.Boot); err != nil {
		return nil, err
	}
	if s.part.Things == nil {
		s.part.Things = map[string]thing{}
	}
	s.now = maps.Clone(s.part.Things)
	s.Note("connected", "waiting for %s/…", c.Options.Prefix)
	return s, s.Greet(ctx, "Home Assistant")
}

// Take is that of [carry.Session]. A message is acknowledged once it has settled.
func (s *session) Take(ctx context.Context, n link.Notification) error {
	if err := s.settled(ctx, n.At); err != nil {
		return err
	}
	var m frame.Message
	if len(n.Data) > 0 { // else it was removed
		var err error
		if m, err = frame.Parse(s.Options.Prefix, n.Char, n.Data); err != nil {
			s.Spoilt(err.Error())
		}
	}
	if frame.Carries(m.Entity.Domain) && s.room(m.Entity.String()) {
		s.learn(m, n.Retained)
	} else {
		m.Leaf = "" // it is only acknowledged, in its turn
	}
	s.queue = append(s.queue, waiting{n: n, m: m})
	return nil
}

// room reports whether an entity is known, or may be.
func (s *session) room(e string) bool {
	if _, known := s.about[e]; known || len(s.about) < maxThings {
		return true
	}
	if !s.many {
		s.many = true
		s.Spoilt(fmt.Sprintf("home assistant: it publishes over %d things: choose some by include", maxThings))
	}
	return false
}

// learn keeps what a message says of an entity besides its state. What is retained comes in any order.
func (s *session) learn(m frame.Message, retained bool) {
	e := m.Entity.String()
	a := s.about[e]
	switch m.Leaf {
	case frame.Name:
		a.name = m.Text
	case frame.Class:
		a.class = m.Text
	case frame.Unit:
		a.unit = m.Text
	case frame.Changed:
		s.part.Times, s.bare = true, 0
		for i := len(s.queue) - 1; i >= 0; i-- {
			if w := &s.queue[i]; w.m.Entity == m.Entity && w.m.Leaf == frame.State {
				if w.changed.IsZero() {
					w.changed = m.At
				}
				return
			}
		}
		if !retained {
			return
		}
		a.changed = m.At
	}
	s.about[e] = a
}

// settled does what has all that belongs to it at a time. A state whose time has not come holds up nothing behind it.
func (s *session) settled(ctx context.Context, now time.Time) error {
	var rest []waiting
	for _, w := range s.queue {
		least := settle
		timeless := w.m.Leaf == frame.State && w.changed.IsZero() && s.about[w.m.Entity.String()].changed.IsZero()
		if timeless && s.part.Times {
			least = stamp
		}
		if now.Sub(w.n.At) < least {
			rest = append(rest, w)
			continue
		}
		if timeless {
			s.bare++
			s.part.Times = s.part.Times && s.bare < maxTimeless
		}
		var receipts []*wear.Receipt
		if w.m.Leaf == frame.State && frame.Known(w.m.Text) {
			r, err := s.state(ctx, &w)
			if err != nil {
				return err
			}
			if r != nil {
				receipts = append(receipts, r)
			}
		}
		s.Keep(w.n, receipts...)
	}
	s.queue = rest
	return nil
}

// state publishes what became of a thing, if something did.
func (s *session) state(ctx context.Context, w *waiting) (*wear.Receipt, error) {
	e := w.m.Entity.String()
	a := s.about[e]
	at := w.changed
	if at.IsZero() {
		at, a.changed = a.changed, time.Time{}
		s.about[e] = a
	}
	if !wire.Believed(at, s.Now) {
		at = time.Time{}
	}
	before := s.now[e]
	if before.same(w.m.Text, at) {
		return nil, nil
	}
	now := thing{State: w.m.Text, Changed: at, Told: before.Told}
	var m wire.Message
	if !at.IsZero() || !w.n.Retained { // else it is of any age
		if at.IsZero() {
			at = w.n.At
		}
		now.At = at
		m = s.message(w.m.Entity, a, &now)
	}
	s.now[e] = now
	if m == nil && w.m.Entity.Domain == "sensor" {
		return nil, nil // readings that are left out are many
	}
	if m == nil {
		return nil, s.keep(e, now)
	}
	*m.Head() = wire.Header{Boot: s.part.Boot, Seq: carry.Seq(fmt.Appendf(nil, "%s %d %s", e, at.UnixMilli(), w.m.Text)), At: at}
	r, err := s.Publish(ctx, m)
	if err != nil {
		return nil, err
	}
	// Before the node has it, a bridge that is begun anew has to publish it again.
	s.Await(ctx, []*wear.Receipt{r}, func(context.Context, error) error { return s.keep(e, now) })
	return r, nil
}

// keep puts on disk what was last known of a thing. One that the house has no longer makes room.
func (s *session) keep(e string, now thing) error {
	if _, there := s.part.Things[e]; !there && len(s.part.Things) >= maxThings {
		for old := range s.part.Things {
			if _, here := s.about[old]; !here {
				delete(s.part.Things, old)
				break
			}
		}
	}
	s.part.Things[e] = now
	return s.State.Keep(partName, s.part)
}

// message is what a state becomes; nil: nothing.
func (s *session) message(e frame.Entity, a about, t *thing) wire.Message {
	name := cmp.Or(a.name, strings.ReplaceAll(e.Object, "_", " "))
	if len(name) > memory.MaxName {
		name = e.Object[:min(len(e.Object), memory.MaxName)]
	}
	if e.Domain == "sensor" {
		v, ok := frame.Number(t.State)
		if !ok || t.At.Sub(t.Told).Abs() < sensorEvery {
			return nil
		}
		t.Told = t.At
		return &wire.Sensor{Name: name, Values: []float64{v}, Unit: a.unit}
	}
	what := frame.Says(e.Domain, a.class, t.State)
	if what == "" {
		return nil
	}
	s.Report.Sightings++
	s.Note("house", "%s %s", name, what)
	return &wire.Words{Text: name + " " + what + ".", Speaker: "house"}
}

func (s *session) Tick(ctx context.Context, now time.Time) error {
	if err := s.settled(ctx, now); err != nil {
		return err
	}
	return s.TellLosses(ctx, false)
}

// Command is that of [carry.Session]. A house can't be asked for anything here; while the wearer pauses, the client throws
// away what it says.
func (s *session) Command(context.Context, *wire.Cmd) error { return nil }

// End is that of [carry.Session]. What has not settled, the broker brings again.
func (s *session) End(ctx context.Context) error {
	return errors.Join(s.TellLosses(ctx, true), s.Status(ctx, "offline", "no connection to the broker of the house"))
}

// simulate makes a house whose front door is opened and closed, each Amount times, up to now, beside a thermometer.
func simulate(p carry.Play) link.Dialer {
	q := &link.Queue{Ends: p.Reboot, Patience: 2*settle + stamp} // a state whose time was lost settles first
	n := cmp.Or(p.Amount, 20)
	add := func(entity, leaf, payload string) {
		q.Messages = append(q.Messages, link.Notification{Char: "statestream/" + entity + "/" + leaf, Data: []byte(payload)})
	}
	const door, outside = "binary_sensor/front_door", "sensor/outside"
	change := func(entity, state string, at time.Time, attributes ...string) {
		add(entity, "state", state)
		add(entity, "last_changed", at.UTC().Format("2006-01-02T15:04:05.000000-07:00"))
		for i := 0; i < len(attributes); i += 2 {
			add(entity, attributes[i], fmt.Sprintf("%q", attributes[i+1]))
		}
	}
	for i := range n {
		at := time.Now().Add(p.ClockOff + time.Duration(i-n)*20*time.Minute)
		change(door, "on", at, "device_class", "door", "friendly_name", "Front door")
		change(door, "on", at, "device_class", "door", "friendly_name", "Front door") // an attribute has changed
		change(door, "off", at.Add(20*time.Second), "device_class", "door", "friendly_name", "Front door")
		change(outside, fmt.Sprintf("%.1f", 10+float64(i%80)/10), at, "unit_of_measurement", "°C", "friendly_name", "Outside")
	}
	return q
}
