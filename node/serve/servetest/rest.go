package servetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// Search implements serve.Recaller: the share of the query's words that a
// text has, and a little for what is newer.
func (n *Node) Search(ctx context.Context, r serve.SearchRequest) (serve.SearchResult, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.SearchResult{}, err
	}
	defer done()
	var res serve.SearchResult
	words := strings.Fields(memory.Normal(r.Query))
	consider := func(h serve.Hit) {
		in := strings.Fields(memory.Normal(h.Text))
		var same float64
		for _, w := range words {
			if slices.Contains(in, w) {
				same++
			}
		}
		if same == 0 {
			return
		}
		h.Parts = map[string]float64{"words": same / float64(len(words)), "recency": 0.1 / (1 + n.Now().Sub(h.At).Hours()/24)}
		h.Score = h.Parts["words"] + h.Parts["recency"]
		if h.Score >= r.Threshold && (r.Since.IsZero() || !h.At.Before(r.Since)) && (r.Until.IsZero() || h.At.Before(r.Until)) {
			res.Hits = append(res.Hits, h)
		}
	}
	for i := range n.s.Memories {
		m := n.s.Memories[i]
		if r.Only == serve.OnlyUtterances || m.State == memory.Erased || m.State == memory.Archived ||
			m.State == memory.Superseded && !r.History && r.AsOf.IsZero() && r.KnownAt.IsZero() ||
			!r.AsOf.IsZero() && !m.TrueAt(r.AsOf) || !r.KnownAt.IsZero() && !m.KnownAt(r.KnownAt) ||
			len(r.Types) > 0 && !slices.Contains(r.Types, m.Type) || r.Tag != "" && !slices.Contains(m.Tags, r.Tag) {
			continue
		}
		if !r.Filters.Match(&filter.Item{Memory: &m}) || r.Agent != "" && m.Owner.Agent != r.Agent || r.Run != "" && m.Owner.Run != r.Run {
			continue
		}
		consider(serve.Hit{ID: m.ID, Text: m.Text, At: m.TrueFrom, Evidence: m.Evidence, Memory: &m})
	}
	for _, u := range n.s.Utterances {
		if r.Only != serve.OnlyMemories && len(r.Types) == 0 && r.Tag+r.Agent+r.Run == "" && r.Filters.Match(&filter.Item{Utterance: &u}) {
			consider(serve.Hit{ID: u.ID, Text: u.Text, At: u.At, Utterance: &u})
		}
	}
	slices.SortStableFunc(res.Hits, func(a, b serve.Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	res.Hits = res.Hits[:min(len(res.Hits), r.K)]
	if len(res.Hits) > 0 {
		res.Confidence = min(1, res.Hits[0].Parts["words"])
	}
	res.Known = res.Confidence >= 0.5
	return res, nil
}

// Pause implements serve.Intake.
func (n *Node) Pause(_ context.Context, until time.Time) (serve.PauseState, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.s.Pause = serve.PauseState{Paused: true, Until: until.UTC()}
	if until.IsZero() {
		n.s.Pause.Until = time.Time{}
	}
	return n.s.Pause, nil
}

// Resume implements serve.Intake.
func (n *Node) Resume(context.Context) (serve.PauseState, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.s.Pause = serve.PauseState{}
	return n.s.Pause, nil
}

// Lock implements serve.Keys.
func (n *Node) Lock(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.locked, n.vault = true, time.Time{}
	return nil
}

// Unlock implements serve.Keys.
func (n *Node) Unlock(_ context.Context, passphrase serve.Secret) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if passphrase != n.Passphrase {
		return fmt.Errorf("unlocking: %w", serve.ErrPassphrase)
	}
	n.locked = false
	return nil
}

// UnlockVault implements serve.Keys.
func (n *Node) UnlockVault(ctx context.Context, passphrase serve.Secret, until time.Time) error {
	done, err := n.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	if passphrase != n.Passphrase {
		return fmt.Errorf("unlocking vault: %w", serve.ErrPassphrase)
	}
	n.vault = until
	return nil
}

// Reveal implements serve.Keys.
func (n *Node) Reveal(ctx context.Context, id memory.ID) (serve.Revealed, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.Revealed{}, err
	}
	defer done()
	m, err := n.find(id)
	if err != nil {
		return serve.Revealed{}, err
	}
	if m.Fields.Vault == nil {
		return serve.Revealed{}, fmt.Errorf("%w: memory %s is not in the vault", memory.ErrInvalid, id)
	}
	if !n.Now().Before(n.vault) {
		return serve.Revealed{}, serve.ErrVaultLocked
	}
	n.s.Revealed++
	v := m.Fields.Vault
	n.change(memory.Change{Memory: id, Verdict: memory.Noop, By: memory.Source{Plugin: "person"}, Rank: memory.RankPerson, Reason: memory.SecretShown})
	n.s.Reads = append([]serve.VaultRead{{At: n.Now().UTC(), ID: id, Label: v.Label, EntryType: v.EntryType, By: memory.Source{Plugin: "person"}}}, n.s.Reads...)
	return serve.Revealed{ID: id, Label: v.Label, EntryType: v.EntryType, Secret: serve.Secret(n.s.Secrets[id.String()])}, nil
}

// VaultLog implements serve.Vault.
func (n *Node) VaultLog(ctx context.Context, limit int) ([]serve.VaultRead, error) {
	done, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	reads := slices.DeleteFunc(slices.Clone(n.s.Reads), func(r serve.VaultRead) bool {
		_, err := n.find(r.ID)
		return err != nil
	})
	return reads[:min(limit, len(reads))], nil
}

// AddDevice implements serve.Devices.
func (n *Node) AddDevice(_ context.Context, name string) (serve.DeviceCredentials, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.locked {
		return serve.DeviceCredentials{}, memory.ErrLocked
	}
	if slices.ContainsFunc(n.s.Devs, func(d serve.Device) bool { return d.Name == name }) {
		return serve.DeviceCredentials{}, fmt.Errorf("%w: device %s exists", serve.ErrConflict, name)
	}
	n.s.Devs = append(n.s.Devs, serve.Device{Name: name, Added: n.Now().UTC()})
	return serve.DeviceCredentials{
		Name: name, Broker: "tcp://127.0.0.1:1883", Username: name, Password: serve.Secret(rand.Text()),
		ClientID: name, Topics: "locket/v1/" + name + "/",
	}, nil
}

// Devices implements serve.Devices.
func (n *Node) Devices(context.Context) ([]serve.Device, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.s.Devs), nil
}

// RemoveDevice implements serve.Devices.
func (n *Node) RemoveDevice(_ context.Context, name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.locked {
		return memory.ErrLocked
	}
	i := slices.IndexFunc(n.s.Devs, func(d serve.Device) bool { return d.Name == name })
	if i < 0 {
		return fmt.Errorf("%w: device %s", memory.ErrNotFound, name)
	}
	n.s.Devs = slices.Delete(n.s.Devs, i, i+1)
	return nil
}

// Status implements serve.Diagnostics.
func (n *Node) Status(context.Context) (serve.Status, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := serve.Status{
		Running: n.Daemon, Started: n.Began, Version: "test", Wearer: n.Wearer, Home: n.HomeDir, Locked: n.locked, VaultUntil: n.vault,
		Pause: n.s.Pause, Private: serve.PrivateStatus{Zones: len(n.s.Zones), Active: []string{}, Dropped: map[string]uint64{}}, Devices: len(n.s.Devs), Memories: map[memory.Type]int{}, Utterances: len(n.s.Utterances),
		Broker:  serve.BrokerStatus{Embedded: true, URL: "tcp://127.0.0.1:1883", Connected: n.Daemon},
		Journal: serve.JournalStatus{Quarantined: len(n.s.Set)},
		Plugins: []serve.PluginStatus{{Name: "rules", Version: "1", Enabled: true}},
	}
	for _, m := range n.s.Memories {
		if m.State == memory.Active {
			s.Memories[m.Type]++
		}
	}
	return s, nil
}

// Doctor implements serve.Diagnostics.
func (n *Node) Doctor(_ context.Context, verify bool) (serve.DoctorReport, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := serve.DoctorReport{OK: true, Verified: verify, Findings: []serve.Finding{{Check: "store", Level: serve.LevelOK, Detail: fmt.Sprintf("%d memories", len(n.s.Memories))}}}
	if k := len(n.s.Set); k > 0 {
		r.Findings = append(r.Findings, serve.Finding{Check: "quarantine", Level: serve.LevelWarning, Detail: fmt.Sprintf("%d inputs were set aside", k), Advice: "see GET /v1/quarantine"})
	}
	for _, m := range n.s.Memories {
		if verify && m.State != memory.Erased && m.Validate() != nil {
			r.OK = false
			r.Findings = append(r.Findings, serve.Finding{Check: "records", Level: serve.LevelError, Detail: "memory " + m.ID.String() + " breaks a rule"})
		}
	}
	return r, nil
}

// Tally implements serve.Refuser.
func (n *Node) Tally(ctx context.Context) (serve.Tally, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.Tally{}, err
	}
	defer done()
	refused := map[string]uint64{}
	for _, r := range n.s.Refused {
		refused[r.Kind]++
	}
	return serve.NewTally(uint64(len(n.s.Memories)), refused), nil
}

// Refusals implements serve.Diagnostics.
func (n *Node) Refusals(_ context.Context, limit int) ([]memory.Refusal, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return newest(n.s.Refused, limit), nil
}

// Quarantine implements serve.Diagnostics.
func (n *Node) Quarantine(_ context.Context, limit int) ([]serve.Quarantined, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return newest(n.s.Set, limit), nil
}

func newest[T any](list []T, limit int) []T {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out[:min(len(out), limit)]
}

// Changes implements serve.Diagnostics.
func (n *Node) Changes(ctx context.Context, after uint64, follow bool) iter.Seq2[memory.Change, error] {
	return func(yield func(memory.Change, error) bool) {
		for {
			done, err := n.open(ctx)
			if err != nil {
				if ctx.Err() == nil {
					yield(memory.Change{}, err)
				}
				return
			}
			list, more := n.s.Changes[min(after, uint64(len(n.s.Changes))):], n.changed
			list = slices.Clone(list)
			done()
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
				after = c.Seq
			}
			if !follow {
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
		}
	}
}
