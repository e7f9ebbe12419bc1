// Package homeassistant is the session of a house whose Home Assistant publishes its entities'
// changes by mqtt_statestream: doors, locks and motion become lines, and sensors become readings.
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

// Family is the house's entry in the list of families.
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
	settle      = 250 * time.Millisecond // time in which an entity's name follows its state
	stamp       = 5 * time.Second        // time in which the change's time follows, if the house sends times
	maxTimeless = 20                     // states in a row without a time, after which the house is taken not to send times any more
	sensorEvery = 5 * time.Minute        // interval between readings of one sensor
)

// part is stored across restarts.
type part struct {
	Boot   uint64           `json:"boot"` // boot under which changes are published
	Things map[string]thing `json:"things"`
	Times  bool             `json:"times,omitempty"` // the house sends the times of changes
}

// thing is the last known state of an entity.
type thing struct {
	State   string    `json:"state"`            // the last known state, without those that say nothing
	Changed time.Time `json:"changed,omitzero"` // time of the change, as the house sends it; zero: it did not
	At      time.Time `json:"at,omitzero"`      // the time under which it was published
	Told    time.Time `json:"told,omitzero"`    // for a sensor, the time of the last reading that was published
}

// same reports whether a state is already known; changed is the time of its change, or zero. A
// state whose time came too late was published under the time at which it came.
func (t thing) same(state string, changed time.Time) bool {
	return t.State == state && (changed.IsZero() || changed.Equal(t.Changed) || t.Changed.IsZero() && changed.Sub(t.At).Abs() < 2*stamp)
}

// about is what else is known of an entity; it comes again with each connection.
type about struct {
	name, class, unit string
	changed           time.Time // a time that came before its state
}

// waiting is a message that has not settled yet.
type waiting struct {
	n       link.Notification
	m       frame.Message
	changed time.Time // time of a state's change
}

type session struct {
	*carry.Conn
	part  part             // what the node has
	now   map[string]thing // the same, with what was published and is not acknowledged
	about map[string]about // by entity, as part.Things
	queue []waiting        // in the order of arrival
	bare  int              // states in a row that came without a time
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

// Handle implements [carry.Session]. A message is acknowledged once it has settled.
func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.settled(ctx, n.At); err != nil {
		return err
	}
	var m frame.Message
	if len(n.Data) > 0 { // otherwise it was removed
		var err error
		if m, err = frame.Parse(s.Options.Prefix, n.Char, n.Data); err != nil {
			s.NoteDamaged(err.Error())
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

// room reports whether an entity is known, or whether there is room for it.
func (s *session) room(e string) bool {
	if _, known := s.about[e]; known || len(s.about) < maxThings {
		return true
	}
	if !s.many {
		s.many = true
		s.NoteDamaged(fmt.Sprintf("home assistant: it publishes over %d things: choose some by include", maxThings))
	}
	return false
}

// learn stores what a message says of an entity apart from its state. Retained messages come in any
// order.
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

// settled handles the messages that are complete by now. A state that still waits does not hold up
// the messages behind it.
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
		s.AckAfter(w.n, receipts...)
	}
	s.queue = rest
	return nil
}

// state publishes the state of an entity, if it has changed.
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
	if !at.IsZero() || !w.n.Retained { // otherwise its age is unknown
		if at.IsZero() {
			at = w.n.At
		}
		now.At = at
		m = s.message(w.m.Entity, a, &now)
	}
	s.now[e] = now
	if m == nil && w.m.Entity.Domain == "sensor" {
		return nil, nil // most readings are left out
	}
	if m == nil {
		return nil, s.saveState(e, now)
	}
	*m.Head() = wire.Header{Boot: s.part.Boot, Seq: carry.Seq(fmt.Appendf(nil, "%s %d %s", e, at.UnixMilli(), w.m.Text)), At: at}
	r, err := s.Publish(ctx, m)
	if err != nil {
		return nil, err
	}
	// If the bridge restarts before the node has the message, it has to publish it again.
	s.Await(ctx, []*wear.Receipt{r}, func(context.Context, error) error { return s.saveState(e, now) })
	return r, nil
}

// saveState stores the last known state of an entity on disk. If there is no room, an entity that the
// house no longer has is dropped.
func (s *session) saveState(e string, now thing) error {
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

// message turns a state into a message; nil: there is nothing to say.
func (s *session) message(e frame.Entity, a about, t *thing) wire.Message {
	name := cmp.Or(a.name, strings.ReplaceAll(e.Object, "_", " "))
	if len(name) > memory.MaxName {
		name = memory.Cut(e.Object, memory.MaxName)
	}
	if e.Domain == "sensor" {
		v, ok := frame.Number(t.State)
		if !ok || t.At.Sub(t.Told).Abs() < sensorEvery {
			return nil
		}
		t.Told = t.At
		return &wire.Sensor{Name: name, Values: []float64{v}, Unit: memory.Cut(a.unit, wire.MaxUnit)}
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

// Command implements [carry.Session]. A house takes no commands here; while the wearer pauses, the
// client throws away what it sends.
func (s *session) Command(context.Context, *wire.Cmd) error { return nil }

// End implements [carry.Session]. The broker sends again what has not settled.
func (s *session) End(ctx context.Context) error {
	return errors.Join(s.TellLosses(ctx, true), s.Status(ctx, "offline", "no connection to the broker of the house"))
}

// simulate makes a house whose front door is opened and closed Amount times, up to the current
// time, and which has a thermometer.
func simulate(p carry.Play) link.Dialer {
	q := &link.Queue{HalfwayEnds: p.Reboot, Patience: 2*settle + stamp} // a state whose time was lost has to settle first
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
