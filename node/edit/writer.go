package edit

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// undatedDevice is the source of imported text without a known time. Like an app, it can't end what
// the wearer's devices heard: both are shown, and a later statement ends both.
const undatedDevice = memory.AppDevice + "undated import"

// maxAhead is how far in the future a given time may be, as for devices.
const maxAhead = 24 * time.Hour

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Assert(ctx context.Context, by engine.Authority, make func(*store.Tx) ([]memory.Assertion, error)) ([]memory.Change, error)
	AcquireWriter() *engine.Writer
	Member() memory.MemberID
}

// Chain runs the plugins on a text. Callers hold the engine's write lock.
type Chain interface {
	Process(ctx context.Context, lock *engine.Writer, ev memory.Event) (extract.Outcome, error)
	Try(ctx context.Context, plugin, text string) (extract.Tried, error)
}

// Config is what the edits on an open node need.
type Config struct {
	Engine    Engine
	Chain     Chain
	Wearer    string
	Zone      *time.Location
	Now       func() time.Time
	StartTime time.Time // when the node started; with a random number it names what is typed

	FetchCold func(ctx context.Context, ids ...memory.ID) error   // brings cold memories back; its error is serve.ErrCold
	NoSecret  func(ctx context.Context, field, text string) error // refuses a text that contains a secret
	MemoryID  func(ev memory.EventID, plugin, fingerprint string) memory.ID
	// LeftOut, if set, returns what the wearer's instructions exclude from being remembered.
	LeftOut func(tx *store.Tx) (category.LeftOut, error)
	// Disputable returns a memory of each group about which more than one thing was said.
	Disputable func(ctx context.Context, tx *store.Tx) ([]memory.ID, error)
}

// Edits is the edit part of an open node.
type Edits struct{ c Config }

// New makes Edits.
func New(c Config) *Edits { return &Edits{c} }

// View implements opened.Viewer.
func (es *Edits) View(ctx context.Context, fn func(*store.Tx) error) error {
	return es.c.Engine.View(ctx, fn)
}

// Writer implements serve.Settler, and serve.Writer except Delete, which belongs to forgetting.
type Writer struct {
	of      opened.Of[*Edits]
	members func(context.Context) ([]serve.Member, error)
}

// NewWriter makes a Writer. members names the devices of the wearer.
func NewWriter(of opened.Of[*Edits], members func(context.Context) ([]serve.Member, error)) Writer {
	return Writer{of, members}
}

// Add implements serve.Writer.
func (w Writer) Add(ctx context.Context, r serve.AddRequest) (res serve.AddResult, err error) {
	es, release, err := w.of.Use()
	if err != nil {
		return res, err
	}
	defer release()
	at := r.At
	now := time.Now()
	if at.IsZero() {
		at = now
	}
	if at.After(now.Add(maxAhead)) {
		return res, serve.InField("at", fmt.Errorf("%w: at: %s is in the future", memory.ErrInvalid, at.Format(time.RFC3339)))
	}
	if !r.Expires.IsZero() && !r.Expires.After(es.c.Now()) {
		return res, serve.InField("expires", fmt.Errorf("%w: expires: %s is past", memory.ErrInvalid, r.Expires.Format(time.RFC3339)))
	}
	if err := r.Metadata.Validate(); err != nil {
		return res, serve.InField("metadata", err)
	}
	if err := checkTags("tags", r.Tags); err != nil {
		return res, err
	}
	if r.Secret != "" && (!r.Infers() || r.Keep || !strings.Contains(r.Text, r.Secret)) {
		return res, serve.InField("secret", fmt.Errorf("%w: secret: want a part of text, with infer and without keep", memory.ErrInvalid))
	}
	device := cmp.Or(authorityOf(ctx).Source.Device, serve.APIDevice)
	if r.Undated && device == serve.APIDevice {
		device = undatedDevice
	}
	event := memory.EventID{Device: device, Boot: uint64(es.c.StartTime.UnixNano()), Seq: randomSeq()}
	if r.Key != "" {
		event = keyedEvent(device, r.Key)
	}
	from := memory.Evidence{Event: event, Speaker: cmp.Or(authorityOf(ctx).Source.App(), r.Speaker, es.c.Wearer), At: at, Excerpt: memory.Excerpt(r.Text)}
	if r.Infers() {
		res, err = es.extractLine(ctx, &r, event, at)
		if err != nil || !r.Keep || !unread(&res) {
			return res, err
		}
		said, out, err := es.leftOut(ctx, r.Text)
		if err != nil {
			return res, err
		}
		if out {
			res.Refusals, err = es.refuse(ctx, extract.LeftOut(said, event, at))
			return res, err
		}
		infer := false
		from.Utterance = res.Line
		kept := serve.AddRequest{Text: r.Text, Infer: &infer, Lang: r.Lang, User: r.User, Agent: r.Agent, Run: r.Run, Metadata: r.Metadata, Tags: []string{"noted"}}
		if r.At.IsZero() && es.typed(ctx, &r) {
			if err := es.asNoteToSelf(ctx, &kept, res.Refusals); err != nil {
				return res, err
			}
		}
		one, err := es.asIs(ctx, &kept, from, false)
		res.Changes, res.Refusals = one.Changes, serve.NonNil([]memory.Refusal(nil))
		return res, err
	}
	return es.asIs(ctx, &r, from, r.Key != "")
}

// checkTags refuses empty tags, which no filter could ask for.
func checkTags(field string, tags []string) error {
	for i, t := range tags {
		if strings.TrimSpace(t) == "" {
			return fmt.Errorf("%w: %s[%d]: an empty tag", memory.ErrInvalid, field, i)
		}
	}
	return nil
}

// extractLine runs the extractors on a text, as a line that was said.
func (es *Edits) extractLine(ctx context.Context, r *serve.AddRequest, event memory.EventID, at time.Time) (serve.AddResult, error) {
	ev := memory.Event{ID: event, Kind: memory.KindText, At: at, Clock: memory.ClockWall, Zone: memory.ZoneName(es.c.Zone), Received: time.Now(),
		Text: r.Text, Speaker: es.speaker(r), Lang: r.Lang, Metadata: r.Metadata, Agent: r.Agent, Run: r.Run, User: r.User, Secret: r.Secret, Types: r.Types}
	ev.Typed = es.typed(ctx, r)
	lock := es.c.Engine.AcquireWriter()
	defer lock.Release()
	out, err := es.c.Chain.Process(ctx, lock, ev)
	res := serve.AddResult{Changes: serve.NonNil(out.Changes), Refusals: serve.NonNil(out.Refusals), Redacted: out.Redacted, Repeated: out.Repeated}
	if len(out.Lines) > 0 { // a text is one line
		res.Line = out.Lines[0]
	}
	if err == nil && res.Repeated {
		res.Line, err = es.lineOf(ctx, event)
	}
	return res, err
}

// speaker returns who says a text: another user of an app speaks of themselves.
func (es *Edits) speaker(r *serve.AddRequest) string {
	return cmp.Or(r.Speaker, memory.OtherUser(r.User), es.c.Wearer)
}

// typed reports whether the wearer wrote a text, and not an app.
func (es *Edits) typed(ctx context.Context, r *serve.AddRequest) bool {
	return serve.CallerOf(ctx) == nil && es.speaker(r) == es.c.Wearer
}

// lineOf returns the line that was kept of a text, or the zero id.
func (es *Edits) lineOf(ctx context.Context, event memory.EventID) (id memory.ID, err error) {
	err = es.c.Engine.View(ctx, func(tx *store.Tx) error {
		for u, err := range tx.UtterancesOf(event) {
			if err == nil {
				id = u.ID
			}
			return err
		}
		return nil
	})
	return id, err
}

// leftOut returns which of the wearer's instructions excludes a text from being remembered.
func (es *Edits) leftOut(ctx context.Context, text string) (said string, ok bool, err error) {
	if es.c.LeftOut == nil {
		return "", false, nil
	}
	err = es.c.Engine.View(ctx, func(tx *store.Tx) error {
		l, err := es.c.LeftOut(tx)
		said, ok = l.Matter(&memory.Candidate{Type: memory.Semantic, Text: text})
		return err
	})
	return said, ok, err
}

// refuse stores why a text did not become a memory, and replaces what the extractors said about it.
func (es *Edits) refuse(ctx context.Context, r memory.Refusal) ([]memory.Refusal, error) {
	_, err := es.c.Engine.Assert(ctx, authorityOf(ctx), func(tx *store.Tx) ([]memory.Assertion, error) {
		if _, err := tx.Unrefuse(r.Event); err != nil {
			return nil, err
		}
		return nil, tx.Refuse(r)
	})
	return []memory.Refusal{r}, err
}

// unread reports whether the extractors found nothing in a text that may still be worth keeping:
// one that is not a question or a greeting, and held no secret.
func unread(res *serve.AddResult) bool {
	if len(res.Changes) > 0 || res.Redacted > 0 || res.Repeated {
		return false
	}
	for _, no := range res.Refusals {
		if no.Kind != "nothing" && no.Kind != "command" && no.Kind != "type" {
			return false
		}
	}
	return len(res.Refusals) > 0
}

// asIs makes one memory of a text as it stands, with its source as evidence. If once is set, the
// event has no other text: the same text again is a repetition, and a different one is
// serve.ErrConflict.
func (es *Edits) asIs(ctx context.Context, r *serve.AddRequest, from memory.Evidence, once bool) (res serve.AddResult, err error) {
	by, event := authorityOf(ctx).Source, from.Event
	c := memory.Candidate{Type: r.Type, Text: r.Text, Lang: r.Lang, Owner: memory.Owner{User: cmp.Or(r.User, memory.WearerUser), Agent: r.Agent, Run: r.Run},
		Slot: r.Slot, Fields: r.Fields, Tags: r.Tags, Metadata: r.Metadata, Confidence: 1, Sensitivity: memory.Personal, Expires: r.Expires,
		Source:   memory.Source{Device: event.Device, Plugin: by.Plugin},
		Evidence: []memory.Evidence{from}}
	c.Type = cmp.Or(c.Type, memory.Semantic)
	if c.Type == memory.Vault {
		return res, fmt.Errorf("%w: type: a secret is added by saying it, with infer", memory.ErrInvalid)
	}
	if c.Type == memory.Core && c.Fields.Core == nil {
		c.Fields.Core = &memory.CoreFields{Block: "human", Limit: memory.CoreLimit}
	}
	if r.Sensitivity != nil {
		c.Sensitivity = *r.Sensitivity
	}
	if err := c.Validate(); err != nil {
		return res, err
	}
	if r.Ends {
		return es.endSlot(ctx, &c)
	}
	if err := es.c.NoSecret(ctx, "text", (&memory.Memory{Candidate: c}).AllText()); err != nil {
		return res, err
	}
	id := es.c.MemoryID(event, by.Plugin, c.Fingerprint())
	res.Changes, err = es.c.Engine.Assert(ctx, authorityOf(ctx), func(tx *store.Tx) ([]memory.Assertion, error) {
		there, err := tx.Memory(id)
		if err == nil && r.Renew && c.Slot != nil && there.State == memory.Superseded {
			if there, err = current(tx, there); err != nil {
				return nil, err
			}
			if there.Slot != nil && there.Slot.Value == c.Slot.Value && there.Text == c.Text {
				res.Repeated, res.Memory = true, there.ID
				return nil, nil
			}
			event = keyedEvent(event.Device, r.Key+"\x1f"+there.ID.String())
			c.Evidence[0].Event, id = event, es.c.MemoryID(event, by.Plugin, c.Fingerprint())
			there, err = tx.Memory(id)
		}
		if cold, ok := errors.AsType[*memory.ColdError](err); ok {
			there, err = &memory.Memory{ID: cold.ID}, nil
		}
		if err == nil {
			if res.Repeated = true; there.State != memory.Erased {
				res.Memory = id
			}
			return nil, nil
		}
		if !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
		if once {
			if _, had, err := tx.EventMark(event); err != nil || had {
				return nil, cmp.Or(err, serve.InField("key", fmt.Errorf("%w: key: it was used before, with another text or with infer", serve.ErrConflict)))
			}
			if err := tx.MarkEvent(event, "done"); err != nil {
				return nil, err
			}
		}
		refused, err := tx.Unrefuse(event)
		if err == nil && refused > 0 { // the extractors found nothing in it, but it is remembered nevertheless
			err = tx.CountAccepted(1)
		}
		return []memory.Assertion{{Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source}}, err
	})
	res.Changes, res.Refusals = serve.NonNil(res.Changes), []memory.Refusal{}
	if err == nil && len(res.Changes) == 1 && res.Changes[0].Verdict == memory.Noop {
		res.Left, err = es.left(ctx, &c, res.Changes[0].Memory)
	}
	return res, err
}

// endSlot ends what fills a candidate's slot.
func (es *Edits) endSlot(ctx context.Context, c *memory.Candidate) (res serve.AddResult, err error) {
	if c.Slot == nil || serve.CallerOf(ctx) != nil {
		return res, serve.InField("ends", fmt.Errorf("%w: ends: want a slot, and the wearer's own key", memory.ErrInvalid))
	}
	res.Changes, err = es.c.Engine.Assert(ctx, authorityOf(ctx), func(tx *store.Tx) (as []memory.Assertion, err error) {
		group, err := tx.Group(c.Group())
		if !slices.ContainsFunc(group, func(m memory.Memory) bool { return m.State == memory.Active && !m.Pinned }) {
			return nil, err
		}
		for i := range group { // what it replaced ends, too: otherwise that would be true again
			if m := &group[i]; m.State == memory.Active || m.State == memory.Superseded && m.Into != (memory.ID{}) {
				as = append(as, memory.Assertion{Memory: m.ID, Act: memory.ActClose, Patch: &memory.Patch{Validity: &memory.Validity{From: m.TrueFrom, To: es.c.Now()}},
					Source: c.Source, Reason: "its source says that it has ended"})
			}
		}
		return as, err
	})
	res.Changes, res.Refusals, res.Repeated = serve.NonNil(res.Changes), []memory.Refusal{}, len(res.Changes) == 0
	return res, err
}

// current returns the memory that has taken the place of another one, or the last that can be read.
func current(tx *store.Tx, m *memory.Memory) (*memory.Memory, error) {
	for range 64 { // a longer chain is followed in part
		if m.State != memory.Superseded || m.Into == (memory.ID{}) {
			break
		}
		next, err := tx.Memory(m.Into)
		if _, cold := errors.AsType[*memory.ColdError](err); cold || errors.Is(err, memory.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		m = next
	}
	return m, nil
}

// left names the parts that came with a text and that the known memory which says the same does not
// have.
func (es *Edits) left(ctx context.Context, c *memory.Candidate, known memory.ID) (fields []string, err error) {
	err = es.c.Engine.View(ctx, func(tx *store.Tx) error {
		m, err := tx.Memory(known)
		if _, cold := errors.AsType[*memory.ColdError](err); cold || errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if !c.Expires.IsZero() && !c.Expires.Equal(m.Expires) {
			fields = append(fields, "expires")
		}
		for key, v := range c.Metadata {
			if m.Metadata[key] != v {
				fields = append(fields, "metadata")
				break
			}
		}
		if c.Sensitivity > m.Sensitivity {
			fields = append(fields, "sensitivity")
		}
		if slices.ContainsFunc(c.Tags, func(t string) bool { return !slices.Contains(m.Tags, t) }) {
			fields = append(fields, "tags")
		}
		return nil
	})
	return fields, err
}

// keyedEvent returns the event id of a text for which the caller has its own key.
func keyedEvent(device, key string) memory.EventID {
	sum := sha256.Sum256([]byte("locket/v1 key\x00" + key))
	return memory.EventID{Device: device, Boot: binary.BigEndian.Uint64(sum[:8]) >> 1, Seq: binary.BigEndian.Uint64(sum[8:16]) >> 1}
}

func randomSeq() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:]) >> 1
}

// authorityOf returns who speaks in a request: the wearer, or the app that asks.
func authorityOf(ctx context.Context) engine.Authority {
	if c := serve.CallerOf(ctx); c != nil {
		return engine.Authority{Source: memory.Source{Device: memory.AppDevice + c.Name(), Plugin: "app"}, Rank: memory.RankCloud}
	}
	return engine.PersonAuthority
}

// change makes assertions about one memory, and returns the changed memory.
func (w Writer) change(ctx context.Context, id memory.ID, as ...memory.Assertion) (memory.Memory, error) {
	es, release, err := w.of.Use()
	if err != nil {
		return memory.Memory{}, err
	}
	defer release()
	if err := es.c.FetchCold(ctx, id); err != nil {
		return memory.Memory{}, err
	}
	for i := range as {
		as[i].Memory = id
	}
	_, err = es.c.Engine.Assert(ctx, authorityOf(ctx), func(tx *store.Tx) ([]memory.Assertion, error) {
		_, err := engine.LiveAt(tx, id, es.c.Now())
		return as, err
	})
	if err != nil {
		return memory.Memory{}, err
	}
	var m memory.Memory
	err = es.c.Engine.View(ctx, func(tx *store.Tx) error {
		m, err = engine.Live(tx, id)
		return err
	})
	return m, err
}

// Pin implements serve.Writer.
func (w Writer) Pin(ctx context.Context, id memory.ID, pinned bool) (memory.Memory, error) {
	act := memory.ActUnpin
	if pinned {
		act = memory.ActPin
	}
	return w.change(ctx, id, memory.Assertion{Act: act})
}
