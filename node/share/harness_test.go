package share_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
)

// relayService is a relay that listens on TCP.
type relayService struct {
	url, dir string
	store    *embedded.Store
}

func serveRelay(t *testing.T) relayService {
	t.Helper()
	dir := t.TempDir()
	r := relaytest.Serve(t, dir, relay.Config{}, api.Config{})
	return relayService{r.URL, dir, r.Store}
}

// wearer is a Source and a Catalog in memory, and the sharing of one device.
type wearer struct {
	*share.Sharing
	memories []memory.Memory
	records  []share.Record
	now      time.Time
	dir      string
	config   share.Config
}

// with returns the same sharing with another configuration.
func (w *wearer) with(change func(*share.Config)) *share.Sharing {
	change(&w.config)
	return share.New(w.config)
}

func (w *wearer) Choose(_ context.Context, c share.Criteria) (out []memory.Memory, err error) {
	for _, m := range w.memories {
		if c.Fits(&m) && strings.Contains(strings.ToLower(m.Text), strings.ToLower(c.Query)) {
			out = append(out, m)
		}
	}
	return out, nil
}

func (w *wearer) Vocabulary(context.Context) (v share.Vocabulary, err error) {
	for i := range w.memories {
		v.Add(&w.memories[i])
	}
	return v, nil
}

func (w *wearer) Records(context.Context) ([]share.Record, error) {
	return slices.Clone(w.records), nil
}

func (w *wearer) Keep(_ context.Context, records []share.Record) error {
	w.records = slices.Clone(records)
	return nil
}

// catalog keeps the wearer's Records apart from those of Sharing, which are by kind.
type catalog struct{ w *wearer }

func (c catalog) Records(ctx context.Context) ([]share.Record, error) { return c.w.Records(ctx) }
func (c catalog) Keep(ctx context.Context, r []share.Record) error    { return c.w.Keep(ctx, r) }

var day = time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)

func newWearer(t *testing.T, r relayService, memories ...memory.Memory) *wearer {
	t.Helper()
	w := &wearer{memories: memories, now: day, dir: t.TempDir()}
	at, err := remote.New(r.url, remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(at.Close)
	w.config = share.Config{Dir: w.dir, Key: seal.NewKey(), Recovery: seal.NewIdentity().Recipient(), Source: w, Catalog: catalog{w},
		Wearer: "Klara Novak", Relay: func() (*remote.Relay, string) { return at, r.url }, Reserve: 1, Now: func() time.Time { return w.now }}
	w.Sharing = share.New(w.config)
	return w
}

var count byte

// remembered returns a memory as the node has it.
func remembered(text string, change func(*memory.Memory)) memory.Memory {
	count++
	m := memory.Memory{ID: memory.ID{count, 1}, Space: memory.SpaceID{9}, State: memory.Active, Learnt: day,
		Candidate: memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: "wearer"}, Confidence: 0.9, Sensitivity: memory.Personal,
			Source:   memory.Source{Device: "glasses-of-klara", Plugin: "facts"},
			Metadata: memory.Metadata{"trip": "alps"},
			Links:    []memory.Link{{Relation: "same_scene", To: "glasses-of-klara/1/2"}},
			Evidence: []memory.Evidence{{Event: memory.EventID{Device: "glasses-of-klara", Boot: 1, Seq: uint64(count)}, Utterance: memory.ID{count, 2},
				Speaker: "Klara", At: day, Excerpt: text}}, TrueFrom: day}}
	if change != nil {
		change(&m)
	}
	return m
}

func garden() []memory.Memory {
	return []memory.Memory{
		remembered("Zuzana grows tomatoes in the garden in Lisbon", func(m *memory.Memory) {
			m.Entities = []memory.Entity{{Name: "Zuzana Horak", Kind: "person"}, {Name: "Lisbon", Kind: "place"}}
			m.Tags = []string{"garden", "lisbon"}
			m.Slot = &memory.Slot{Subject: "zuzana", Attribute: "garden", Value: "Lisbon"}
			m.Fields.Semantic = &memory.SemanticFields{Subject: "Zuzana", Object: "tomatoes", Details: "said by zuzana@lisbon.example"}
		}),
		remembered("The tomatoes want water every second day", func(m *memory.Memory) { m.Tags = []string{"garden"} }),
		remembered("The tomatoes were stolen by the neighbour", func(m *memory.Memory) { m.Tags, m.Sensitivity = []string{"garden"}, memory.Private }),
		remembered("The gate of the tomatoes opens with a code", func(m *memory.Memory) {
			m.Type, m.Tags, m.Sensitivity = memory.Vault, []string{"garden"}, memory.Secret
			m.Fields.Vault = &memory.VaultFields{EntryType: "pin", Label: "gate", Sealed: []byte{1}}
		}),
		remembered("Klara moved to Porto", func(m *memory.Memory) { m.Entities = []memory.Entity{{Name: "Klara", Kind: "person"}} }),
	}
}

func newReader(t *testing.T) (*share.Reader, string) {
	t.Helper()
	r := &share.Reader{Dir: t.TempDir(), Reserve: 1, Now: func() time.Time { return day }}
	key, _, err := r.Key()
	if err != nil {
		t.Fatal(err)
	}
	return r, key
}

func texts(ms []memory.Memory) []string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Text)
	}
	slices.Sort(out)
	return out
}
