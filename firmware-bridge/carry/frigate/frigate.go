// Package frigate is the session of a Frigate, which publishes by MQTT what its cameras see.
package frigate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/frigate"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is Frigate's entry in the list of families.
var Family = carry.Family{
	Name: "frigate", Short: "Carry what the cameras of a Frigate saw",
	Long: `Subscribes to what Frigate publishes at a broker, and publishes a line of text for
each object that a camera saw, from its coming to its going, to the node as the wearable
--name. False positives are left out. With --pictures the last snapshot of each goes
with it.`,
	Carrier: carry.MQTT, Prefix: "frigate", Accepts: carry.WithPictures,
	Topics: func(o *carry.Options) []string { return frame.Topics(o.Prefix, o.Pictures) },
	Begin:  begin, Simulate: simulate,
	SceneKinds: []memory.Kind{memory.KindPhoto},
}

const (
	partName = "frigate"
	maxOpen  = 256              // objects without an end that are kept
	maxKept  = 32               // pictures that are kept until their object's end
	silent   = time.Hour        // without news of an object for this long, its end counts as lost
	owed     = 30 * time.Second // how long a picture may come after its object's end
)

// part is stored across restarts.
type part struct {
	Boot uint64            `json:"boot"` // boot under which sightings are published
	Open map[string]object `json:"open"` // by Frigate's ids
}

// object is one that a camera sees.
type object struct {
	Event frame.Event `json:"event"`
	News  time.Time   `json:"news"` // when its last message came
}

type picture struct {
	jpeg []byte
	at   time.Time
}

type session struct {
	*carry.Conn
	part     part
	pictures map[string]picture   // the latest picture, by camera and label
	waits    map[string]bool      // objects that went, whose lines are sent and not on disk yet
	owed     map[string]time.Time // until when a picture may come for an object that went
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, pictures: map[string]picture{}, waits: map[string]bool{}, owed: map[string]time.Time{}}
	if err := c.State.Stored(partName, &s.part, &s.part.Boot); err != nil {
		return nil, err
	}
	if s.part.Open == nil {
		s.part.Open = map[string]object{}
	}
	s.Note("connected", "waiting for %s", strings.Join(frame.Topics(c.Options.Prefix, c.Options.Pictures), ", "))
	if err := s.Greet(ctx, "Frigate"); err != nil {
		return nil, err
	}
	return s, s.lines(ctx)
}

func (s *session) saveState() error { return s.State.Keep(partName, s.part) }

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.TellLosses(ctx, false); err != nil {
		return err
	}
	m, err := frame.Parse(s.Options.Prefix, n.Char, n.Data)
	if err != nil {
		s.NoteDamaged(err.Error())
	}
	switch m := m.(type) {
	case frame.Event:
		err = s.event(ctx, m)
	case frame.Finding:
		err = s.findingCame(ctx, m)
	case frame.Available:
		state, reason := "recording", ""
		if !m.Online {
			state, reason = "offline", "Frigate does not run"
		}
		s.Note("status", "Frigate: %s", state)
		err = s.Status(ctx, state, reason)
	case frame.Picture:
		if n.Retained {
			break // it belongs to an object that went long ago
		}
		err = s.picture(ctx, m, n.At)
	default:
		err = nil // spoilt, or not needed
	}
	if err != nil {
		return err
	}
	s.AckAfter(n)
	return nil
}

func (s *session) event(ctx context.Context, e frame.Event) error {
	if !wire.Believed(e.Start, s.Now) {
		s.NoteDamaged(fmt.Sprintf("frigate: event: start_time %s is not a plausible time", e.Start.Format(time.RFC3339)))
		return nil
	}
	known, open := s.part.Open[e.ID]
	if open && known.Event.State == frame.End {
		return nil // its line is not sent yet
	}
	if open { // an update may omit what was found out earlier
		e.Name, e.Plate = cmp.Or(e.Name, known.Event.Name), cmp.Or(e.Plate, known.Event.Plate)
	}
	if e.State != frame.End {
		before := known.Event
		s.part.Open[e.ID] = object{e, s.Now}
		if err := s.bound(ctx); err != nil {
			return err
		}
		// There may be several updates a second; one that changes nothing is not written.
		if open && before.Name == e.Name && before.False == e.False && slices.Equal(before.Zones, e.Zones) {
			return nil
		}
		return s.saveState()
	}
	if err := s.objectGone(ctx, e); err != nil {
		return err
	}
	return s.bound(ctx)
}

// objectGone handles an object that went, or of which there is no more news. It stays in the state until
// its line is on disk or at the node.
func (s *session) objectGone(ctx context.Context, e frame.Event) error {
	if e.False {
		delete(s.part.Open, e.ID)
		return s.saveState()
	}
	e.State = frame.End
	s.part.Open[e.ID] = object{e, s.Now}
	s.Report.Sightings++
	s.Note("sighting", "%s %s", e.Start.Format(time.RFC3339), sentence(e))
	if err := errors.Join(s.saveState(), s.line(ctx, e.ID)); err != nil {
		return err
	}
	return s.show(ctx, e)
}

// lines publishes the lines of objects that went, unless they are at the node or on disk.
func (s *session) lines(ctx context.Context) error {
	for id, o := range s.part.Open {
		if o.Event.State == frame.End {
			if err := s.line(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// line publishes the line of an object that went.
func (s *session) line(ctx context.Context, id string) error {
	if s.waits[id] {
		return nil
	}
	e := s.part.Open[id].Event
	kept, r, err := s.publishLine(ctx, e.Camera, id, "seen", e.Start, sentence(e))
	if err != nil {
		return err
	}
	done := func(context.Context, error) error {
		delete(s.part.Open, id)
		delete(s.waits, id)
		return s.saveState()
	}
	switch {
	case kept:
		return done(ctx, nil)
	case r != nil: // it was dropped, and Tick tries it again
		s.waits[id] = true
		s.Await(ctx, []*wear.Receipt{r}, done)
	}
	return nil
}

// bound gives up the object without news for the longest time, if there are too many.
func (s *session) bound(ctx context.Context) error {
	if len(s.part.Open) <= maxOpen {
		return nil
	}
	oldest := ""
	for id, o := range s.part.Open {
		if oldest == "" || o.News.Before(s.part.Open[oldest].News) {
			oldest = id
		}
	}
	e := s.part.Open[oldest].Event
	if e.State != frame.End {
		if err := s.objectGone(ctx, e); err != nil {
			return err
		}
	}
	delete(s.part.Open, oldest) // there is no room to wait for its line
	return s.saveState()
}

// show publishes the latest picture of an object that went, or waits for it.
func (s *session) show(ctx context.Context, e frame.Event) error {
	if !s.Options.Pictures || !e.Snapshot {
		return nil
	}
	place := e.Camera + "/" + e.Label
	if p, ok := s.pictures[place]; ok && !p.at.Before(e.Start) {
		delete(s.pictures, place)
		return s.publish(ctx, p)
	}
	if len(s.owed) < maxKept {
		s.owed[place] = s.Now.Add(owed)
	}
	return nil
}

// sentence says what a camera saw.
func sentence(e frame.Event) string {
	var b strings.Builder
	article := "a"
	if strings.ContainsRune("aeiou", rune(e.Label[0])) {
		article = "an"
	}
	fmt.Fprintf(&b, "The camera %s saw %s %s", e.Camera, article, strings.ReplaceAll(e.Label, "_", " "))
	if e.Name != "" {
		fmt.Fprintf(&b, ", %s", strings.ReplaceAll(e.Name, "_", " "))
	}
	if e.Plate != "" {
		fmt.Fprintf(&b, ", with the number plate %s", e.Plate)
	}
	if len(e.Zones) > 0 {
		fmt.Fprintf(&b, ", in %s", strings.Join(e.Zones, ", "))
	}
	if e.End.IsZero() {
		b.WriteString("; when it went is not known")
	} else {
		fmt.Fprintf(&b, ", for %s", e.End.Sub(e.Start).Round(time.Second))
	}
	return b.String() + "."
}

// findingCame handles what was found out later, often after the end.
func (s *session) findingCame(ctx context.Context, t frame.Finding) error {
	o, open := s.part.Open[t.ID]
	if open {
		o.Event.Name, o.Event.Plate = cmp.Or(t.Name, o.Event.Name), cmp.Or(t.Plate, o.Event.Plate)
		if s.part.Open[t.ID] = o; t.Description == "" {
			return s.saveState()
		}
	}
	if !wire.Believed(t.At, s.Now) {
		s.NoteDamaged(fmt.Sprintf("frigate: tracked_object_update: %s is not a plausible time", t.At.Format(time.RFC3339)))
		return nil
	}
	camera := cmp.Or(t.Camera, o.Event.Camera)
	text := t.Description
	if text == "" {
		text = fmt.Sprintf("The camera %s recognised %s.", camera, strings.ReplaceAll(cmp.Or(t.Name, "the number plate "+t.Plate), "_", " "))
	}
	_, _, err := s.publishLine(ctx, camera, t.ID, "told", t.At, text)
	return err
}

// publishLine publishes a line whose identity follows from its subject, so that it exists once however
// often it comes. Frigate publishes with QoS 0 and repeats nothing, so the line is stored in the
// spool before it is sent.
func (s *session) publishLine(ctx context.Context, camera, id, kind string, at time.Time, text string) (kept bool, r *wear.Receipt, err error) {
	about := id + " " + kind
	if kind == "told" {
		about += " " + text
	}
	speaker := "Frigate"
	if camera != "" {
		speaker = "camera " + camera
	}
	if len(speaker) > maxSpeaker {
		speaker = "Frigate"
	}
	return s.PublishKept(ctx, &wire.Words{Header: wire.Header{Boot: s.part.Boot, Seq: carry.Seq([]byte(about)), At: at}, Text: text, Speaker: speaker, Lang: "en"})
}

const maxSpeaker = 128 // bytes, as docs/mqtt.md has it

func (s *session) picture(ctx context.Context, m frame.Picture, at time.Time) error {
	if !s.Options.Pictures {
		return nil
	}
	if len(m.JPEG) > wire.MaxData {
		s.NoteDamaged(fmt.Sprintf("frigate: snapshot of %s: %d bytes, at most %d", m.Camera, len(m.JPEG), wire.MaxData))
		return nil
	}
	place := m.Camera + "/" + m.Label
	if until, ok := s.owed[place]; ok {
		delete(s.owed, place)
		if at.Before(until) {
			return s.publish(ctx, picture{m.JPEG, at})
		}
	}
	if _, ok := s.pictures[place]; ok || len(s.pictures) < maxKept {
		s.pictures[place] = picture{m.JPEG, at}
	}
	return nil
}

func (s *session) publish(ctx context.Context, p picture) error {
	s.Report.Photos++
	return s.PublishLive(ctx, &wire.Photo{Header: wire.Header{At: p.at}, Codec: "jpeg", Data: p.jpeg})
}

func (s *session) Tick(ctx context.Context, now time.Time) error {
	for _, o := range s.part.Open {
		if o.Event.State != frame.End && now.Sub(o.News) > silent { // its end was lost, since Frigate publishes with QoS 0
			if err := s.objectGone(ctx, o.Event); err != nil {
				return err
			}
		}
	}
	if err := s.lines(ctx); err != nil {
		return err
	}
	for place, until := range s.owed {
		if now.After(until) {
			delete(s.owed, place)
		}
	}
	return s.TellLosses(ctx, false)
}

// Command implements [carry.Session]. Frigate takes no commands; while the wearer pauses, the
// client throws sightings away.
func (s *session) Command(context.Context, *wire.Cmd) error { return nil }

// End implements [carry.Session]. Objects without an end are on disk, and continue with the next
// connection.
func (s *session) End(ctx context.Context) error {
	err := s.TellLosses(ctx, true)
	if n := len(s.part.Open); n > 0 {
		s.Note("status", "%d objects have not ended yet, or their line has not reached the node", n)
	}
	return errors.Join(err, s.saveState(), s.Status(ctx, "offline", "no connection to Frigate's broker"))
}
