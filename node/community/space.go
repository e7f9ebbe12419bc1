package community

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// spaceRecord is what a home stores about a community, in its sealed store.
type spaceRecord struct {
	Link    string    `json:"link"`
	Name    string    `json:"name"`
	Joined  time.Time `json:"joined"`
	Ended   time.Time `json:"ended,omitzero"`
	Tried   time.Time `json:"tried,omitzero"`    // when it was last tried after it had ended
	Gifts   []int     `json:"gifts,omitempty"`   // the numbers of the gifts
	Next    int       `json:"next"`              // the number of the next gift
	Answers *choice   `json:"answers,omitempty"` // what the node uses to answer; nil: it does not answer

	Reasons map[memory.MemberID]string `json:"reasons,omitempty"` // of removals that may have been sent without their reasons
}

// choice says what is given, and how it is redacted.
type choice struct {
	Criteria share.Criteria  `json:"criteria"`
	Redact   share.Redaction `json:"redact"`
	Purpose  string          `json:"purpose,omitempty"`
}

// gift is what was added at one time, so that it can be removed when it is no longer
// allowed.
type gift struct {
	choice
	Of memory.ID `json:"of,omitzero"` // the question that it answers
	// Nonce makes the ids of its items, see [space.placed]. What was removed is gone
	// for good, so its id must not come back with the next gift.
	Nonce memory.ID               `json:"nonce"`
	IDs   map[memory.ID]memory.ID `json:"ids"` // copies as they are offered, with the memories that they are of
}

func giftMeta(n int) string { return fmt.Sprintf("%s/gift/%d", keptMeta, n) }

const (
	keptMeta    = "community"
	genesisFile = "genesis"
	stampFile   = "stamp"
)

// space is a community that is open in this process.
type space struct {
	c       *Communities
	id      memory.SpaceID
	dir     string // the folder that stores it
	me      memory.MemberID
	device  *keyring.Device
	keys    replica.Keys
	store   *store.Store
	engine  *engine.Engine
	journal *journal.Journal
	wall    *wall
	replica *replica.Replica
	relay   *remote.Relay
	record  spaceRecord
	changed bool // something was said or received
}

// open opens a community that is stored in dir. For a new community it is given what is
// known about it; its founder also gives an invitation at the relay.
func (c *Communities) open(ctx context.Context, id memory.SpaceID, dir string, fresh *spaceRecord, founds bool, invite string) (sp *space, err error) {
	genesis, err := os.ReadFile(filepath.Join(dir, genesisFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("community %s: %w", id, memory.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("community %s: %w", id, err)
	}
	sp = &space{c: c, id: id, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, sp.close())
		}
	}()
	if sp.device, err = c.Reader.Device(); err != nil {
		return sp, err
	}
	sp.me, sp.keys = envelope.MemberOf(sp.device.Key(), id), share.KeysOf(sp.device, id)
	key := sp.device.StoreKey(id)
	defer key.Zero()
	sp.store, err = store.Open(store.Options{Dir: filepath.Join(dir, "store"), Key: key, Derive: deriveEach, Diff: reconcile.Diff, Small: true, Reserve: c.Reader.Reserve})
	if err != nil {
		return sp, err
	}
	if fresh != nil {
		sp.record = *fresh
		err = sp.save(ctx)
	} else {
		err = sp.store.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(keptMeta, &sp.record); return err })
	}
	if err != nil {
		return sp, err
	}
	l, err := share.ParseLink(sp.record.Link)
	if err != nil {
		return sp, err
	}
	if sp.relay, err = remote.New(l.Relay, remote.Option{HTTP: c.Reader.HTTP, Now: c.Reader.Now}); err != nil {
		return sp, err
	}
	clock := &memory.Ticker{Now: c.now}
	sp.engine = engine.New(engine.Config{Space: id, Member: sp.me, Store: sp.store, Clock: clock})
	sp.journal = &journal.Journal{Space: id, Member: sp.me, Store: sp.store, Write: sp.engine.Commit}
	sp.wall = &wall{Journal: sp.journal}
	var j replica.Journal = sp.wall
	if !founds {
		j = share.JoinedJournal{Journal: j}
	}
	sp.replica, err = replica.New(replica.Config{Space: id, Member: sp.me, Genesis: genesis, Remote: upstream.New(sp.relay.Space(id, sp.me, sp.device.SignRequest), invite),
		Journal: j, Keys: sp.keys, Temp: filepath.Join(dir, "parts"), Log: c.Reader.Log, Now: c.Reader.Now})
	return sp, err
}

func (sp *space) close() (err error) {
	if sp.replica != nil {
		sp.replica.Close()
	}
	if sp.relay != nil {
		sp.relay.Close()
	}
	if sp.store != nil {
		err = sp.store.Close()
	}
	if sp.device != nil {
		sp.device.Zero()
	}
	if sp.changed {
		err = errors.Join(err, atomicfile.Write(filepath.Join(sp.dir, stampFile), []byte(randomText())))
	}
	return err
}

func (sp *space) save(ctx context.Context) error {
	return sp.store.Update(ctx, func(tx *store.Tx) error { return tx.PutMeta(keptMeta, sp.record) })
}

// sync exchanges with the relay. A member who was removed gets that as an error, and
// what was fetched is no longer used for answers.
func (sp *space) sync(ctx context.Context) error {
	before, err := sp.replica.Status(ctx)
	if err != nil {
		return err
	}
	err = sp.replica.Sync(ctx)
	ended := errors.Is(err, replica.ErrForbidden) || errors.Is(err, replica.ErrNotFound) || errors.Is(err, replica.ErrRemoved)
	if ended != !sp.record.Ended.IsZero() && (ended || err == nil) {
		sp.record.Ended, sp.changed = time.Time{}, true
		if ended {
			sp.record.Ended = sp.c.now()
		}
		err = errors.Join(err, sp.save(context.WithoutCancel(ctx)))
	}
	if ended {
		return fmt.Errorf("%w: %v", ErrNotMember, err)
	}
	if replica.Failed(err) {
		return fmt.Errorf("%w: %w", serve.ErrRelay, err)
	}
	if err == nil && len(sp.record.Reasons) > 0 {
		err = sp.sayReasons(ctx)
	}
	if err != nil {
		return err
	}
	after, err := sp.replica.Status(ctx)
	sp.changed = sp.changed || before.Cursor != after.Cursor || before.Log != after.Log
	return err
}

// commitAssertions commits assertions of this member. What it erases is removed from the files, too.
func (sp *space) commitAssertions(ctx context.Context, as ...memory.Assertion) error {
	erased, proposed, most := false, 0, MaxSaid-spare
	sp.changed = true
	for i := range as {
		if as[i].Act != memory.ActPropose {
			continue
		}
		proposed++
		if kind := as[i].Candidate.Metadata[metaKind]; kind == noteRemoval || kind == noteLeaving {
			most = MaxSaid
		}
	}
	if why, err := sp.wall.room(ctx, sp.me, proposed, most); err != nil || why != "" {
		return errors.Join(err, fmt.Errorf("%w: %s", serve.ErrConflict, why))
	}
	err := share.InPages(ctx, sp.engine, as, func(tx *store.Tx, a memory.Assertion) error {
		a.Seen = []memory.Dot{} // nobody can override anybody here
		if _, err := sp.engine.AssertTx(tx, memory.RankPerson, a); err != nil || a.Act != memory.ActErase {
			return err
		}
		erased = true
		return tx.Erase(store.Targets{Memories: []memory.ID{a.Memory}})
	})
	if err != nil || !erased {
		return err
	}
	return sp.store.Compact(ctx)
}

// noted returns the candidate for a note.
func noted(kind, of, text string) (memory.Candidate, error) {
	c := memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: owner}, Confidence: 1, Sensitivity: memory.Personal, Metadata: memory.Metadata{metaKind: kind, metaOf: of}}
	if of == "" {
		delete(c.Metadata, metaOf)
	}
	return c, c.Validate()
}

// note says something that is not an item.
func (sp *space) note(ctx context.Context, kind, of, text string) error {
	c, err := noted(kind, of, text)
	if err != nil {
		return err
	}
	return sp.commitAssertions(ctx, memory.Assertion{Memory: sp.me.LineID(randomID()), Act: memory.ActPropose, Candidate: &c})
}

// activeMemories returns everything that was said and not withdrawn.
func (sp *space) activeMemories(ctx context.Context) ([]memory.Memory, error) {
	return share.ActiveIn(ctx, sp.store)
}

// see returns what this member sees, from what is here.
func (sp *space) see(ctx context.Context) (v serve.CommunityView, said []memory.Memory, err error) {
	said, err = sp.activeMemories(ctx)
	if err != nil {
		return v, nil, err
	}
	wire, err := sp.journal.Entries(ctx)
	if err != nil {
		return v, nil, err
	}
	var entries []*envelope.Entry
	for _, b := range wire {
		e, err := envelope.ParseEntry(b) // the replica has verified it
		if err != nil {
			return v, nil, err
		}
		entries = append(entries, e)
		for _, w := range e.Wraps {
			if w.To == sp.me {
				if err := sp.keys.Take(w.Keys); err != nil {
					return v, nil, err
				}
			}
		}
	}
	name := func(m *envelope.Member) string {
		text, err := replica.OpenName(m, sp.id, sp.keys.Epoch)
		if err != nil {
			return "" // it is shown with its id
		}
		return text
	}
	v = see(sp.me, entries, name, said)
	v.ID, v.Name, v.Link, v.Ended, v.Answers = sp.id, sp.record.Name, sp.record.Link, sp.record.Ended, sp.record.Answers != nil
	if w := sp.record.Answers; w != nil {
		v.With = &serve.CommunityChoice{Types: serve.NonNil(w.Criteria.Types), Tags: serve.NonNil(w.Criteria.Tags), Since: w.Criteria.Since, Until: w.Criteria.Until,
			Sensitivity: w.Criteria.Most, Redact: serve.NonNil(w.Redact.List()), Quotes: w.Redact.Quotes}
	}
	st, err := sp.journal.State(ctx)
	v.Fetched = st.Synced
	return v, said, err
}
