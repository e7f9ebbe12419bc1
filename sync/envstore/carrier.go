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

// These are faults of a remote. Each is wrapped with the remote's name.
var (
	// ErrWithholds: the remote does not show everything that it has taken, or
	// lacks something that comes before what it shows.
	ErrWithholds = errors.New("withholds deltas that it had accepted")
	// ErrRolledBack: the remote shows less than it has shown before.
	ErrRolledBack = errors.New("shows less than it had shown before")
)

// Standing is what a device remembers about a remote.
type Standing struct {
	Founded bool              `json:"founded,omitempty"`
	Log     uint64            `json:"log,omitempty"`    // number of log entries that it has shown or taken
	Cursor  uint64            `json:"cursor,omitempty"` // all its deltas up to it were read
	Shown   map[string]uint64 `json:"shown,omitempty"`  // how far it has shown each chain
	Taken   map[string]uint64 `json:"taken,omitempty"`  // how far it has taken each chain from this device
	Late    map[string]uint64 `json:"late,omitempty"`   // place of each chain from which on no remote takes deltas, because the author was removed before
	Order   int               `json:"order,omitempty"`  // line of the file order up to which the remote has everything
	Gone    int               `json:"gone,omitempty"`   // number of lines of the file gone whose bodies were removed there
	Blobs   []envelope.Hash   `json:"blobs,omitempty"`  // blobs that it has
	Again   int               `json:"again,omitempty"`  // line of the file again up to which the remote was asked
	// Unblobbed lists the blobs that were deleted here and that the remote was
	// told to delete. A blob is listed once for each deletion.
	Unblobbed []envelope.Hash `json:"unblobbed,omitempty"`
	Synced    time.Time       `json:"synced,omitzero"` // end of the last successful round
	Trouble   []string        `json:"trouble,omitempty"`
	Failing   bool            `json:"failing,omitempty"` // the last round had a fault
}

// maxTrouble is how many faults of a remote are kept.
const maxTrouble = 20

// Carrier copies between an envelope store and one remote that speaks the
// relay's protocol, one round at a time.
type Carrier struct {
	Name   string // name of the remote for people: its URL
	Remote replica.Remote
	Self   memory.MemberID
	Owner  bool // this is an owner's device, which may carry other members' deltas and log entries
	Peer   bool // the remote is another device, which is asked for blobs but gets none

	// NamedBlobs returns the blobs that notes on this device name, and the cursor of
	// the store up to which the notes were read. nil means that no note names a
	// blob that was deleted here.
	NamedBlobs func(context.Context) (named map[envelope.Hash]bool, heard uint64, err error)

	// UploadFirst returns those of the sealed blobs that have to be uploaded before
	// others. It may be nil.
	UploadFirst func(context.Context, []envelope.Hash) (map[envelope.Hash]bool, error)

	// Metered reports whether traffic costs money now. If it does, blobs are
	// not sent. It is asked before each, and may be nil.
	Metered func(context.Context) bool
	Now     func() time.Time

	// Progress is called at each step with the number of deltas that are done,
	// and the number of all deltas. It may be nil.
	Progress func(done, all int)

	store *Store
	st    Standing // a carrier is used by one goroutine at a time
	path  string   // file of the standing
	waits bool     // see HasPendingDeletes
	back  error    // error if this round found that the remote went back; else nil
	backs int      // rounds with a full read since the last good round, at most maxBacks
	rests int      // how many more rounds have no full read, whatever the remote says
}

// maxBacks bounds the rounds between two full reads of a remote that goes back
// again and again: 2^maxBacks - 1. Otherwise it could cause that work without end.
const maxBacks = 4

// Carry returns a carrier. Its standing is stored beside the store.
func (s *Store) Carry(c Carrier) (*Carrier, error) {
	c.store, c.path = s, filepath.Join(s.root, "places", safeName(c.Name)+".json")
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

// safeName returns a file name for a remote.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}

// Standing returns a copy of the standing.
func (c *Carrier) Standing() Standing {
	st := c.st
	st.Shown, st.Taken, st.Late = maps.Clone(st.Shown), maps.Clone(st.Taken), maps.Clone(st.Late)
	st.Blobs, st.Unblobbed, st.Trouble = slices.Clone(st.Blobs), slices.Clone(st.Unblobbed), slices.Clone(st.Trouble)
	return st
}

// MissingDeltas returns how many deltas of the store the remote lacks, as far as known.
// It does not count deltas that no remote would take.
func (c *Carrier) MissingDeltas() int {
	n := 0
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	for ch, l := range c.store.links {
		if has := max(c.st.Shown[ch.String()], c.st.Taken[ch.String()], c.st.Late[ch.String()]); has < l.Seq {
			n += int(l.Seq - has)
		}
	}
	return n
}

// Waiting returns how many blobs of the store were not given to the remote yet.
func (c *Carrier) Waiting() int {
	blobs, err := c.store.folder.blobs()
	if err != nil || c.Peer {
		return 0
	}
	return len(slices.DeleteFunc(blobs, func(id envelope.Hash) bool { return slices.Contains(c.st.Blobs, id) }))
}

// HasPendingDeletes reports whether blobs have to be deleted at the remote as soon as the
// replica has read more of its deltas.
func (c *Carrier) HasPendingDeletes() bool { return c.waits }

// Forget deletes the standing.
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

// trouble records a fault of the remote, once.
func (c *Carrier) trouble(err error) error {
	c.st.Failing = true
	return c.notice(err)
}

// notice records something that is not the remote's fault, beside its faults.
func (c *Carrier) notice(err error) error {
	err = fmt.Errorf("%s: %w", c.Name, err)
	if text := err.Error(); !slices.Contains(c.st.Trouble, text) {
		c.st.Trouble = append(c.st.Trouble, text)
		c.st.Trouble = c.st.Trouble[max(0, len(c.st.Trouble)-maxTrouble):]
	}
	return err
}

// fromTheBeginning records that the remote went back, as a relay does after a backup was restored.
// Everything that it shows is then read again, and it is sent what it lacks. The round fails
// nevertheless, so that the fault is reported. If the remote goes back twice in a round, the round
// ends.
func (c *Carrier) fromTheBeginning(err error) error {
	err = c.trouble(err)
	if c.back != nil || c.rests > 0 {
		return err
	}
	c.back, c.backs = err, min(c.backs+1, maxBacks)
	c.rests = 1 << c.backs
	c.st.Log, c.st.Cursor, c.st.Order, c.st.Gone, c.st.Again = 0, 0, 0, 0, 0
	c.st.Shown, c.st.Taken, c.st.Late = map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	c.st.Blobs, c.st.Unblobbed = nil, nil
	return nil
}

// Round copies the log, deltas, removals of bodies, and blobs in both directions, and compares what
// the remote shows with what it has taken. After an error, everything that was done before stays
// done.
func (c *Carrier) Round(ctx context.Context) (err error) {
	c.st.Failing, c.back, c.rests = false, nil, max(0, c.rests-1)
	defer func() {
		if !errors.Is(err, ErrRolledBack) {
			err = errors.Join(err, c.back)
		}
		if err == nil {
			c.st.Synced, c.backs, c.rests = c.Now().UTC(), 0, 0
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
	again, err := c.store.blobsToAskFor() // read before the push, so that blobs named by deltas of this round are asked for in the next
	if err != nil {
		return err
	}
	pushed := c.push(ctx)
	if pulled == nil && errors.Is(pushed, replica.ErrNoRoom) { // removing forgotten bodies and blobs makes room
		pushed = c.makeRoom(ctx, pushed)
	}
	if pulled != nil || pushed != nil {
		return errors.Join(pulled, pushed)
	}
	if err := c.removeBodies(ctx); err != nil {
		return err
	}
	if c.Peer {
		return nil
	}
	return c.carryBlobs(ctx, again)
}

// makeRoom removes forgotten bodies and blobs from a full remote, and then
// pushes again. full is the error of the first push.
func (c *Carrier) makeRoom(ctx context.Context, full error) error {
	blobs, err := c.store.folder.blobs()
	if err == nil && !c.Peer {
		err = errors.Join(c.removeBodies(ctx), c.deleteBlobs(ctx, blobs))
	}
	if err != nil {
		return errors.Join(full, err)
	}
	return c.push(ctx)
}

// carryLog founds the space at the remote if it is not there, and brings both
// logs to the same end. Two different entries with the same number are a fork,
// and end the round.
func (c *Carrier) carryLog(ctx context.Context) error {
	if !c.st.Founded {
		if err := c.found(ctx); err != nil {
			return err
		}
	}
	for {
		page, err := c.Remote.Log(ctx, c.st.Log)
		if errors.Is(err, replica.ErrAhead) {
			if err := c.fromTheBeginning(fmt.Errorf("log after %d: %w; what it lacks is sent again: %w", c.st.Log, ErrRolledBack, err)); err != nil {
				return err
			}
			continue
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
				err = c.store.TakeEntry(e)
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
	mine, err := c.store.Log(ctx, c.st.Log)
	if err != nil || !c.Owner {
		return err
	}
	for _, b := range mine {
		e, err := envelope.ParseEntry(b)
		if err != nil {
			return err
		}
		if err := c.Remote.AppendLog(ctx, e); err != nil {
			return fmt.Errorf("%s: log entry %d: %w", c.Name, e.N, err)
		}
		c.st.Log = e.N
	}
	return nil
}

func (c *Carrier) found(ctx context.Context) error {
	first, err := c.store.Log(ctx, 0)
	if err != nil {
		return err
	}
	if err := FoundSpace(ctx, c.Remote, first[0]); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	c.st.Founded = true
	return nil
}

// FoundSpace begins a space at a remote, with the first entry of its log. If the remote has the space, it does nothing.
func FoundSpace(ctx context.Context, at replica.Remote, genesis []byte) error {
	if _, err := at.Log(ctx, 0); err == nil {
		return nil
	}
	e, err := envelope.ParseEntry(genesis)
	if err != nil {
		return err
	}
	return at.AppendLog(ctx, e)
}
