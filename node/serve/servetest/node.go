// Package servetest tests implementations of serve.Service, and has one of
// its own for tests of clients and commands: [Node], which keeps everything
// in memory in the clear and follows the same rules on a small scale. No
// product code imports it.
package servetest

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/zones"
	"github.com/locket-dev/locket/wasm/trust"
)

// Node is a serve.Service in memory. Its extraction knows three sentences:
// "my X is Y" is a fact with one value at a time, a password that is said
// goes to the vault, a question is refused. Anything else is an episode.
type Node struct {
	// Set before use.
	Wearer     string
	Passphrase serve.Secret
	Now        func() time.Time
	Daemon     bool      // for Status
	HomeDir    string    // for Status
	Began      time.Time // for Status

	mu      sync.Mutex
	s       state
	locked  bool
	keyFile bool // opens it, too
	vault   time.Time
	changed chan struct{} // closed and made anew at each change
	plan    consolidate.Plan
}

// state is what Save keeps.
type state struct {
	Key        ed25519.PrivateKey // signs exports
	Keys       []string           // of texts that were added
	Memories   []memory.Memory
	Secrets    map[string]string // by memory id
	Utterances []memory.Utterance
	Changes    []memory.Change
	Refused    []memory.Refusal
	Set        []serve.Quarantined
	Aside      []serve.AddRequest // that nobody has read
	Devs       []serve.Device
	Pause      serve.PauseState
	Zones      []zones.Zone
	Revealed   int
	Reads      []serve.VaultRead // newest first
	Seq        uint64
	Held       []held
	Pins       map[string]trust.Pin
	RulesOff   bool
	Wishes     string
	Never      []string
	Policy     string // in Cedar; empty: none was set
}

// Services gives what the routes call.
func (n *Node) Services() serve.Services {
	return serve.Services{
		Reader: n, Writer: n, Recaller: n, Forgetter: n, Intake: n, Zoner: n, Keeper: n, MediaReader: n, Keys: n, Vault: n,
		Devices: n, Syncer: n, Relayer: n, Membership: n, Sharer: n, Seller: n, Policer: n, Granter: n, Plugger: n, Tracer: n, Settler: n,
		Modeller: n, Enginer: n, Dreamer: n, Grapher: n, Refuser: n, Diagnostics: n, Exchange: n,
	}
}

// NewNode gives an empty node, unlocked.
func NewNode() *Node {
	return &Node{Wearer: "me", Passphrase: "open sesame", Now: time.Now, changed: make(chan struct{}), s: state{Secrets: map[string]string{}}}
}

// Load reads what Save wrote; a file that is missing is an empty node.
func (n *Node) Load(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, &n.s)
}

// Save writes everything to a file.
func (n *Node) Save(path string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, err := json.Marshal(&n.s)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// SetAside adds to the quarantine, as intake would.
func (n *Node) SetAside(q serve.Quarantined) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.s.Set = append(n.s.Set, q)
}

// Reveals is how often a secret was shown.
func (n *Node) Reveals() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.s.Revealed
}

// open locks the mutex, and fails where the node is locked.
func (n *Node) open(ctx context.Context) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	if n.locked {
		n.mu.Unlock()
		return nil, fmt.Errorf("%w: the store's keys are not open", memory.ErrLocked)
	}
	return n.mu.Unlock, nil
}

func (n *Node) find(id memory.ID) (*memory.Memory, error) {
	i := slices.IndexFunc(n.s.Memories, func(m memory.Memory) bool { return m.ID == id && m.State != memory.Erased })
	if i < 0 {
		return nil, fmt.Errorf("%w: memory %s", memory.ErrNotFound, id)
	}
	return &n.s.Memories[i], nil
}

// Resolve implements serve.Reader.
func (n *Node) Resolve(ctx context.Context, text string) (memory.ID, error) {
	done, err := n.open(ctx)
	if err != nil {
		return memory.ID{}, err
	}
	defer done()
	text = strings.ToLower(text)
	if len(text) < 4 {
		return memory.ID{}, fmt.Errorf("%w: id %q: want 4 characters or more", memory.ErrInvalid, text)
	}
	var fits []memory.ID
	for _, m := range n.s.Memories {
		if strings.HasPrefix(m.ID.String(), text) {
			fits = append(fits, m.ID)
		}
	}
	switch len(fits) {
	case 0:
		return memory.ID{}, fmt.Errorf("%w: memory %s", memory.ErrNotFound, text)
	case 1:
		return fits[0], nil
	}
	return memory.ID{}, fmt.Errorf("%w: id %s fits %d memories", memory.ErrAmbiguous, text, len(fits))
}

// Get implements serve.Reader.
func (n *Node) Get(ctx context.Context, id memory.ID) (memory.Memory, error) {
	done, err := n.open(ctx)
	if err != nil {
		return memory.Memory{}, err
	}
	defer done()
	m, err := n.find(id)
	if err != nil {
		return memory.Memory{}, err
	}
	return *m, nil
}

// List implements serve.Reader. The cursor is the id of the page's last memory.
func (n *Node) List(ctx context.Context, q serve.ListQuery) (serve.ListPage, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.ListPage{}, err
	}
	defer done()
	if q.State == "" {
		q.State = memory.Active
	}
	var fit []memory.Memory
	past := !q.AsOf.IsZero() || !q.KnownAt.IsZero()
	for _, m := range slices.Backward(n.s.Memories) {
		if past && !heldAt(&m, q.AsOf, q.KnownAt) || !past && q.State != serve.AnyState && m.State != q.State || m.State == memory.Erased ||
			q.Type != "" && m.Type != q.Type || q.Tag != "" && !slices.Contains(m.Tags, q.Tag) ||
			q.Agent != "" && m.Owner.Agent != q.Agent || q.Run != "" && m.Owner.Run != q.Run || !q.Filters.Match(&filter.Item{Memory: &m}) ||
			!q.Since.IsZero() && m.Learnt.Before(q.Since) || !q.Until.IsZero() && !m.Learnt.Before(q.Until) {
			continue
		}
		fit = append(fit, m)
	}
	if q.Cursor != "" {
		i := slices.IndexFunc(fit, func(m memory.Memory) bool { return m.ID.String() == q.Cursor })
		if i < 0 {
			return serve.ListPage{}, fmt.Errorf("%w: cursor", memory.ErrInvalid)
		}
		fit = fit[i+1:]
	}
	fit = fit[min(q.Skip, len(fit)):]
	page := serve.ListPage{Memories: fit}
	if len(fit) > q.Limit {
		page.Memories = fit[:q.Limit]
		page.Next = fit[q.Limit-1].ID.String()
	}
	return page, nil
}

// heldAt reports whether a memory was so at asOf, and believed at knownAt.
func heldAt(m *memory.Memory, asOf, knownAt time.Time) bool {
	if m.State != memory.Active && m.State != memory.Superseded || !knownAt.IsZero() && m.Learnt.After(knownAt) {
		return false
	}
	if !asOf.IsZero() {
		return m.TrueAt(asOf)
	}
	return knownAt.IsZero() || m.KnownAt(knownAt)
}

// GetAt implements serve.Reader.
func (n *Node) GetAt(ctx context.Context, id memory.ID, asOf, knownAt time.Time) (memory.Memory, error) {
	done, err := n.open(ctx)
	if err != nil {
		return memory.Memory{}, err
	}
	defer done()
	m, err := n.find(id)
	if err != nil {
		return memory.Memory{}, err
	}
	if heldAt(m, asOf, knownAt) {
		return *m, nil
	}
	for _, o := range n.s.Memories {
		if o.Candidate.Group() == m.Candidate.Group() && heldAt(&o, asOf, knownAt) && !asOf.IsZero() {
			return o, nil
		}
	}
	return memory.Memory{}, fmt.Errorf("%w: memory %s, then", memory.ErrNotFound, id)
}

// History implements serve.Reader.
func (n *Node) History(ctx context.Context, id memory.ID) ([]memory.Change, error) {
	done, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return n.history(id), nil
}

func (n *Node) history(id memory.ID) []memory.Change {
	var list []memory.Change
	for _, c := range n.s.Changes {
		if c.Memory == id {
			list = append(list, c)
		}
	}
	return list
}

// Why implements serve.Reader.
func (n *Node) Why(ctx context.Context, id memory.ID) (serve.Why, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.Why{}, err
	}
	defer done()
	m, err := n.find(id)
	if err != nil {
		return serve.Why{}, err
	}
	w := serve.Why{Memory: *m, By: m.Source, Rank: m.Rank, Evidence: m.Evidence, History: n.history(id)}
	if len(w.History) > 0 {
		w.Verdict, w.Reason = w.History[0].Verdict, w.History[0].Reason
	}
	for _, other := range n.s.Memories {
		if other.Into == id {
			w.Replaced = append(w.Replaced, related(&other))
		}
	}
	if into, err := n.find(m.Into); err == nil {
		r := related(into)
		w.Into = &r
	}
	return w, nil
}

func related(m *memory.Memory) serve.Related {
	return serve.Related{ID: m.ID, Text: m.Text, At: m.Learnt}
}

// change notes a line of history and wakes those who follow.
func (n *Node) change(c memory.Change) memory.Change {
	c.Seq, c.At = uint64(len(n.s.Changes)+1), n.Now().UTC()
	n.s.Changes = append(n.s.Changes, c)
	close(n.changed)
	n.changed = make(chan struct{})
	return c
}

func (n *Node) newID(group string) memory.ID {
	n.s.Seq++
	mac := hmac.New(sha256.New, []byte("servetest"))
	fmt.Fprintf(mac, "%d %s", n.s.Seq, group)
	return memory.ID(mac.Sum(nil)[:16])
}
