package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	Bare    uint64            `json:"bare,omitempty"`   // the first that came from it without its body, until it is known why
	Shown   map[string]uint64 `json:"shown,omitempty"`  // how far it has shown each chain
	Taken   map[string]uint64 `json:"taken,omitempty"`  // how far it has taken each from here
	Late    map[string]uint64 `json:"late,omitempty"`   // how far each was passed over: no place takes what came after its author's removal
	Order   int               `json:"order,omitempty"`  // of the shelf, up to which everything is there
	Gone    int               `json:"gone,omitempty"`   // of the shelf's bodies that were taken away
	Blobs   []envelope.Hash   `json:"blobs,omitempty"`  // that it has
	Synced  time.Time         `json:"synced,omitzero"`  // the last round that went well
	Trouble []string          `json:"trouble,omitempty"`
	Failing bool              `json:"failing,omitempty"` // some of the trouble is of the last round
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

	// Metered: what goes costs something. Blobs wait until it is not. It may be
	// nil.
	Metered func() bool
	Now     func() time.Time

	// Progress is told of each step: how many of how many deltas are there.
	// It may be nil.
	Progress func(done, all int)

	shelf *Shelf
	st    Standing
	path  string
}

// Carry gives a carrier of a shelf. Its standing is kept beside the shelf.
func (s *Shelf) Carry(c Carrier) (*Carrier, error) {
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
	st.Blobs, st.Trouble = slices.Clone(st.Blobs), slices.Clone(st.Trouble)
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
	c.compacted(ctx)
	pushed := c.push(ctx)
	if pulled != nil || pushed != nil {
		return errors.Join(pulled, pushed)
	}
	if err := c.carryGone(ctx); err != nil {
		return err
	}
	if c.Peer {
		return nil
	}
	return c.carryBlobs(ctx)
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
		return fmt.Errorf("%s: found the space: %w", c.Name, err)
	}
	c.st.Founded = true
	return nil
}

// pull takes what the place has. What is no delta of the space is named and
// passed over; where some before it are missing, the place is asked again.
func (c *Carrier) pull(ctx context.Context) error {
	for {
		page, err := c.At.Deltas(ctx, c.st.Cursor)
		if errors.Is(err, replica.ErrAhead) {
			return c.trouble(fmt.Errorf("deltas after %d: %w: %w", c.st.Cursor, ErrRolledBack, err))
		}
		if err != nil {
			return fmt.Errorf("%s: deltas after %d: %w", c.Name, c.st.Cursor, err)
		}
		if len(page) == 0 {
			return c.compare()
		}
		for _, p := range page {
			if p.Cursor != c.st.Cursor+1 {
				return c.trouble(fmt.Errorf("deltas after %d: %w: the next has cursor %d", c.st.Cursor, envelope.ErrForm, p.Cursor))
			}
			if err := c.takeOne(ctx, p); err != nil {
				return err
			}
			c.st.Cursor = p.Cursor
		}
		if err := c.save(); err != nil {
			return err
		}
	}
}

func (c *Carrier) takeOne(ctx context.Context, p replica.Placed) error {
	d, err := envelope.ParseDelta(p.Delta)
	fresh := false
	if err == nil {
		fresh, err = c.shelf.Take(d)
	}
	if errors.Is(err, envelope.ErrUnknownHead) { // the entry came since the log was carried
		if err := c.carryLog(ctx); err != nil {
			return err
		}
		fresh, err = c.shelf.Take(d)
	}
	switch {
	case err == nil:
		ch := chainOf(&d.Header).String()
		c.st.Shown[ch] = max(c.st.Shown[ch], d.Header.Seq)
		if fresh && d.Body == nil && d.Header.Member != c.Self && c.st.Bare == 0 {
			c.st.Bare = p.Cursor
		}
	case errors.Is(err, envelope.ErrGap), errors.Is(err, envelope.ErrUnknownHead):
		return c.trouble(fmt.Errorf("%w: %w", ErrWithholds, err))
	case isForeign(err):
		c.trouble(err) // noted: it will never be better, and holds nothing up
	default:
		return err
	}
	return nil
}

// compacted has it stand where deltas came without bodies that a snapshot at the
// place may have: a device with a shelf reads none. Where it can't be told, it
// is looked at again.
func (c *Carrier) compacted(ctx context.Context) {
	at, ok := c.At.(replica.Checkpoints)
	if !ok || c.Peer || c.st.Bare == 0 {
		return
	}
	all, err := at.Checkpoints(ctx)
	if err != nil && !errors.Is(err, replica.ErrNotFound) {
		return
	}
	for _, l := range all {
		cp, err := envelope.ParseCheckpoint(l.Checkpoint)
		if err == nil && cp.Cursor >= c.st.Bare && c.shelf.acceptsCheckpoint(cp) {
			c.notice(fmt.Errorf("from %d on some came without their bodies: what was neither forgotten nor read here before is in the snapshot at %d, %s, which a device with a shelf does not read",
				c.st.Bare, cp.Cursor, cp.Hash()))
			break
		}
	}
	c.st.Bare = 0
}

// isForeign reports whether it is what came that is at fault, and will never be
// better, and not this device, whose disk may be full.
func isForeign(err error) bool {
	if errors.Is(err, memory.ErrDamaged) { // of what is here
		return false
	}
	if _, ok := errors.AsType[*envelope.ForkError](err); ok {
		return true
	}
	for _, foreign := range []error{envelope.ErrForm, envelope.ErrSignature, envelope.ErrBody, envelope.ErrGap, envelope.ErrKnown, envelope.ErrRule, envelope.ErrUnknownHead} {
		if errors.Is(err, foreign) {
			return true
		}
	}
	return false
}

// compare holds what a place shows, to its end, to what it had taken.
func (c *Carrier) compare() error {
	for _, ch := range slices.Sorted(maps.Keys(c.st.Taken)) {
		if taken, shown := c.st.Taken[ch], c.st.Shown[ch]; shown < taken {
			return c.trouble(fmt.Errorf("%w: of %s it shows %d, and had taken %d", ErrWithholds, ch, shown, taken))
		}
	}
	return nil
}

// push gives the place what it has not shown. What came after its author's
// removal no place takes: it is named and passed over, as is the rest of its
// chain.
func (c *Carrier) push(ctx context.Context) error {
	refs := c.shelf.since(c.st.Order)
	for i, r := range refs {
		if c.Progress != nil {
			c.Progress(i, len(refs))
		}
		ch := chain{r.Member, r.Incarnation}.String()
		if r.Seq > max(c.st.Shown[ch], c.st.Taken[ch]) && (c.Owner || r.Member == c.Self) {
			d, err := c.shelf.read(r)
			if err != nil {
				return err
			}
			if late := c.shelf.late(d); late != nil {
				if c.st.Late[ch] == 0 {
					c.notice(fmt.Errorf("not sent, nor what follows it: %w", late))
				}
				c.st.Late[ch] = r.Seq
			} else if err := c.At.Append(ctx, d); err != nil {
				return fmt.Errorf("%s: send %s of %s: %w", c.Name, r.Position, r.Member, err)
			} else {
				c.st.Taken[ch] = r.Seq
			}
		}
		c.st.Order++
		if i%64 == 63 {
			if err := c.save(); err != nil {
				return err
			}
		}
	}
	if c.Progress != nil {
		c.Progress(len(refs), len(refs))
	}
	return nil
}

// carryGone has the place throw away bodies of this device's own that went.
func (c *Carrier) carryGone(ctx context.Context) error {
	c.shelf.mu.Lock()
	var refs []replica.Ref
	n := len(c.shelf.gone)
	for r, at := range c.shelf.gone {
		if at >= c.st.Gone && r.Member == c.Self {
			refs = append(refs, r)
		}
	}
	c.shelf.mu.Unlock()
	for part := range slices.Chunk(refs, pageDeltas) {
		if err := c.At.Forget(ctx, part); err != nil {
			return fmt.Errorf("%s: forget: %w", c.Name, err)
		}
	}
	c.st.Gone = n
	return nil
}

// carryBlobs gives the place the blobs that are on the shelf.
func (c *Carrier) carryBlobs(ctx context.Context) error {
	blobs, err := c.shelf.folder.blobs()
	if err != nil {
		return err
	}
	var left []envelope.Hash // of those that it has, what is still here
	for _, id := range c.st.Blobs {
		if slices.Contains(blobs, id) {
			left = append(left, id)
			continue
		}
		if err := c.At.DeleteBlob(ctx, id); err != nil && !errors.Is(err, replica.ErrForbidden) {
			return fmt.Errorf("%s: delete blob: %w", c.Name, err)
		}
	}
	c.st.Blobs = left
	if c.Metered != nil && c.Metered() {
		return nil
	}
	c.shelf.folder.bySize(blobs) // a photo comes before an hour of sound
	for _, id := range blobs {
		if slices.Contains(c.st.Blobs, id) {
			continue
		}
		if err := c.upload(ctx, id); err != nil {
			return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
		}
		c.st.Blobs = append(c.st.Blobs, id)
	}
	return nil
}

func (c *Carrier) upload(ctx context.Context, id envelope.Hash) error {
	f, err := c.shelf.folder.openBlob(id)
	if err != nil {
		return err
	}
	defer f.Close()
	sent, err := c.At.Upload(ctx, f)
	if err == nil && sent != id {
		err = fmt.Errorf("%w: the bytes on the shelf are of %s", memory.ErrDamaged, sent)
	}
	return err
}

// Bring has a blob on the shelf that the place has, so that another place can
// be given it. One that is there already is no error.
func (c *Carrier) Bring(ctx context.Context, id envelope.Hash, limit int64) error {
	if f, err := c.shelf.folder.openBlob(id); err == nil {
		return f.Close()
	}
	f, err := os.CreateTemp(c.shelf.root, ".blob.tmp*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := c.At.Download(ctx, id, f, limit); err != nil {
		return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return c.shelf.folder.putBlob(id, f, limit)
}
