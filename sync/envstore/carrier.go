package envstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// What a place did. Each is wrapped with the place's name.
var (
	// ErrWithholds: it no longer shows what it had taken, or not all of what
	// stands before something that it shows.
	ErrWithholds = errors.New("withholds what it had taken")
	// ErrRolledBack: it shows less than it has shown before.
	ErrRolledBack = errors.New("went back behind what it had shown")
)

// Standing is what is remembered of a place.
type Standing struct {
	Founded bool              `json:"founded,omitempty"`
	Log     uint64            `json:"log,omitempty"`    // entries that it has shown or taken
	Cursor  uint64            `json:"cursor,omitempty"` // of its deltas, all of which were looked at
	Shown   map[string]uint64 `json:"shown,omitempty"`  // how far it has shown each chain
	Taken   map[string]uint64 `json:"taken,omitempty"`  // how far it has taken each from here
	Late    map[string]uint64 `json:"late,omitempty"`   // how far each was passed over: no place takes what came after its author's removal
	Order   int               `json:"order,omitempty"`  // of the shelf, up to which everything is there
	Gone    int               `json:"gone,omitempty"`   // of the shelf's bodies that were taken away
	Blobs   []envelope.Hash   `json:"blobs,omitempty"`  // that it has
	Again   int               `json:"again,omitempty"`  // of the shelf's list of blobs to ask for once more, the number up to which it was asked
	// Unblobbed are those of the blobs deleted here that it was told to delete, each
	// as often as it was deleted.
	Unblobbed []envelope.Hash `json:"unblobbed,omitempty"`
	Synced    time.Time       `json:"synced,omitzero"` // the last round that went well
	Trouble   []string        `json:"trouble,omitempty"`
	Failing   bool            `json:"failing,omitempty"` // some of the trouble is of the last round
}

// maxTrouble is how many things that a place did are kept.
const maxTrouble = 20

// Carrier carries between a shelf and one place that speaks the relay's
// protocol. One round at a time.
type Carrier struct {
	Name  string // of the place, for people: its URL
	At    replica.Remote
	Self  memory.MemberID
	Owner bool // of the space: may carry what others said, and the log
	Peer  bool // it is another device: it is asked for blobs, and given none

	// Named gives the blobs that notes here name, and how far the shelf was heard
	// for that. nil: nobody names what was deleted here.
	Named func(context.Context) (named map[envelope.Hash]bool, heard uint64, err error)

	// First gives those of sealed blobs that are given to the place before others.
	// nil: none.
	First func(context.Context, []envelope.Hash) (map[envelope.Hash]bool, error)

	// Metered: what goes costs something. Blobs wait until it is not. It may be
	// nil.
	Metered func() bool
	Now     func() time.Time

	// Progress is told of each step: how many of how many deltas are there.
	// It may be nil.
	Progress func(done, all int)

	shelf *Store
	st    Standing
	path  string
	waits bool // see Waits
}

// Carry gives a carrier of a shelf. Its standing is kept beside the shelf.
func (s *Store) Carry(c Carrier) (*Carrier, error) {
	c.shelf, c.path = s, filepath.Join(s.root, "places", safeName(c.Name)+".json")
	if c.Now == nil {
		c.Now = time.Now
	}
	b, err := os.ReadFile(c.path)
	if err == nil {
		err = json.Unmarshal(b, &c.st)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("standing of %s: %w", c.Name, err)
	}
	if c.st.Shown == nil {
		c.st.Shown = map[string]uint64{}
	}
	if c.st.Taken == nil {
		c.st.Taken = map[string]uint64{}
	}
	if c.st.Late == nil {
		c.st.Late = map[string]uint64{}
	}
	return &c, nil
}

// safeName is a file name for a place.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}

// Standing gives a copy.
func (c *Carrier) Standing() Standing {
	st := c.st
	st.Shown, st.Taken, st.Late = maps.Clone(st.Shown), maps.Clone(st.Taken), maps.Clone(st.Late)
	st.Blobs, st.Unblobbed, st.Trouble = slices.Clone(st.Blobs), slices.Clone(st.Unblobbed), slices.Clone(st.Trouble)
	return st
}

// Lacks is how many deltas of the shelf the place has neither shown nor taken,
// of those that it may take.
func (c *Carrier) Lacks() int {
	n := 0
	c.shelf.mu.Lock()
	defer c.shelf.mu.Unlock()
	for ch, l := range c.shelf.links {
		if has := max(c.st.Shown[ch.String()], c.st.Taken[ch.String()], c.st.Late[ch.String()]); has < l.Seq {
			n += int(l.Seq - has)
		}
	}
	return n
}

// Waiting is how many blobs of the shelf the place has not been given.
func (c *Carrier) Waiting() int {
	blobs, err := c.shelf.folder.blobs()
	if err != nil || c.Peer {
		return 0
	}
	return len(slices.DeleteFunc(blobs, func(id envelope.Hash) bool { return slices.Contains(c.st.Blobs, id) }))
}

// Waits reports whether there are blobs to delete at the place once more of what
// came from it was heard.
func (c *Carrier) Waits() bool { return c.waits }

// Forget drops what is remembered of the place.
func (c *Carrier) Forget() error {
	err := os.Remove(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c *Carrier) save() error {
	b, err := json.Marshal(&c.st)
	if err != nil {
		return err
	}
	return write(c.path, b)
}

// trouble notes what the place did, once.
func (c *Carrier) trouble(err error) error {
	c.st.Failing = true
	return c.notice(err)
}

// notice has something stand with the trouble that is no fault of the place's.
func (c *Carrier) notice(err error) error {
	err = fmt.Errorf("%s: %w", c.Name, err)
	if text := err.Error(); !slices.Contains(c.st.Trouble, text) {
		c.st.Trouble = append(c.st.Trouble, text)
		c.st.Trouble = c.st.Trouble[max(0, len(c.st.Trouble)-maxTrouble):]
	}
	return err
}

// Round carries the log, deltas, what was taken away, and blobs, both ways, and
// compares what the place shows with what it had taken. What went well is kept,
// whatever fails after it.
func (c *Carrier) Round(ctx context.Context) (err error) {
	c.st.Failing = false
	defer func() {
		if err == nil {
			c.st.Synced = c.Now().UTC()
		}
		err = errors.Join(err, c.save())
	}()
	if err := c.carryLog(ctx); err != nil {
		return err
	}
	pulled := c.pull(ctx)
	if ctx.Err() != nil {
		return pulled
	}
	again, err := c.shelf.again() // before: what is named in what goes now is asked for after it
	if err != nil {
		return err
	}
	pushed := c.push(ctx)
	if pulled == nil && errors.Is(pushed, replica.ErrNoRoom) { // what was forgotten here makes some
		pushed = c.makeRoom(ctx, pushed)
	}
	if pulled != nil || pushed != nil {
		return errors.Join(pulled, pushed)
	}
	if err := c.carryGone(ctx); err != nil {
		return err
	}
	if c.Peer {
		return nil
	}
	return c.carryBlobs(ctx, again)
}

// makeRoom has a place that is full let go of what was forgotten, and goes on to
// give it what it lacks. full is why it was given nothing.
func (c *Carrier) makeRoom(ctx context.Context, full error) error {
	blobs, err := c.shelf.folder.blobs()
	if err == nil && !c.Peer {
		err = errors.Join(c.carryGone(ctx), c.deleteBlobs(ctx, blobs))
	}
	if err != nil {
		return errors.Join(full, err)
	}
	return c.push(ctx)
}

// carryLog founds the space where it is not there, and brings both logs to the
// same end. Another entry at a place is a fork, and everything with the place
// stops.
func (c *Carrier) carryLog(ctx context.Context) error {
	if !c.st.Founded {
		if err := c.found(ctx); err != nil {
			return err
		}
	}
	for {
		page, err := c.At.Log(ctx, c.st.Log)
		if errors.Is(err, replica.ErrAhead) {
			return c.trouble(fmt.Errorf("log after %d: %w: %w", c.st.Log, ErrRolledBack, err))
		}
		if err != nil {
			return fmt.Errorf("%s: log after %d: %w", c.Name, c.st.Log, err)
		}
		if len(page) == 0 {
			break
		}
		for _, b := range page {
			e, err := envelope.ParseEntry(b)
			if err == nil && e.N != c.st.Log+1 {
				err = fmt.Errorf("log entry %d where %d was due: %w", e.N, c.st.Log+1, envelope.ErrForm)
			}
			if err == nil {
				err = c.shelf.TakeEntry(e)
			}
			if err != nil && !isForeign(err) {
				return err
			}
			if err != nil {
				return c.trouble(err)
			}
			c.st.Log = e.N
		}
	}
	mine, err := c.shelf.Log(ctx, c.st.Log)
	if err != nil || !c.Owner {
		return err
	}
	for _, b := range mine {
		e, err := envelope.ParseEntry(b)
		if err != nil {
			return err
		}
		if err := c.At.AppendLog(ctx, e); err != nil {
			return fmt.Errorf("%s: log entry %d: %w", c.Name, e.N, err)
		}
		c.st.Log = e.N
	}
	return nil
}

func (c *Carrier) found(ctx context.Context) error {
	if _, err := c.At.Log(ctx, 0); err == nil {
		c.st.Founded = true
		return nil
	}
	first, err := c.shelf.Log(ctx, 0)
	if err != nil {
		return err
	}
	e, err := envelope.ParseEntry(first[0])
	if err != nil {
		return err
	}
	if err := c.At.AppendLog(ctx, e); err != nil {
		return fmt.Errorf("%s: begin the space there: %w", c.Name, err)
	}
	c.st.Founded = true
	return nil
}
