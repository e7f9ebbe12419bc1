package share_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/share"
)

// account keeps what a sharing noted.
type account []share.Deed

func (a *account) Note(_ context.Context, d share.Deed) error { *a = append(*a, d); return nil }

func person(text, name string) memory.Memory {
	return remembered(text, func(m *memory.Memory) {
		m.Tags = []string{"garden"}
		m.Entities = []memory.Entity{{Name: name, Kind: "person"}}
	})
}

// What a reader gets is what was shown in the preview, byte for byte: with roles
// instead of names, and rounded times. The log has what was done and what was
// refused.
func TestReaderGetsThePreviewedBytes(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, person("Zuzana Horak and Ben water the tomatoes", "Zuzana Horak"), person("Zuzana likes basil", "Zuzana"))
	var log account
	sharing := w.with(func(c *share.Config) { c.Account = &log })
	reader, key := newReader(t)
	how, err := share.ParseRedaction([]string{"Zuzana=my sister", "times=month", "Ben"})
	if err != nil {
		t.Fatal(err)
	}
	wish := share.ShareSpec{Title: "garden", Criteria: share.Criteria{Tags: []string{"garden"}, Most: memory.Personal}, Redact: how, To: []string{"Ann=" + key}}
	p, err := sharing.Preview(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	wish.Confirm = "another"
	if _, err := sharing.Create(t.Context(), wish); !errors.Is(err, share.ErrChanged) {
		t.Error(err)
	}
	wish.Confirm = p.Confirm
	rec, err := sharing.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	o, err := reader.Open(t.Context(), rec.Link())
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(c memory.Candidate) string {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var shown, got []string
	for _, c := range p.Copies {
		shown = append(shown, bytes(c.Candidate))
	}
	for _, m := range o.Memories {
		got = append(got, bytes(m.Candidate))
	}
	slices.Sort(shown)
	slices.Sort(got)
	if !slices.Equal(shown, got) {
		t.Errorf("shown was\n%s\nand the reader has\n%s", strings.Join(shown, "\n"), strings.Join(got, "\n"))
	}
	if want := []string{"[my sister] and […] water the tomatoes", "[my sister] likes basil"}; !slices.Equal(texts(o.Memories), want) {
		t.Errorf("the reader sees %q, want %q", texts(o.Memories), want)
	}
	month := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, m := range o.Memories {
		if !m.TrueFrom.Equal(month) || m.Entities[0].Name != "[my sister]" {
			t.Errorf("%+v", m.Candidate)
		}
	}
	if list := how.List(); !slices.Equal(list, []string{"times=month", "Zuzana=my sister", "Ben"}) {
		t.Errorf("said back as %q", list)
	}
	if _, err := sharing.Revoke(t.Context(), rec.Space.String(), ""); err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, d := range log {
		did = append(did, d.Did+" "+strings.Join(d.To, ","))
	}
	if want := []string{"refused ", "shared Ann", "revoked Ann"}; !slices.Equal(did, want) {
		t.Errorf("the account has %q, want %q", did, want)
	}
}

// Each statement is backed by at least as many people as was asked for, and is
// sent once.
func TestAtLeastKPeople(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, person("Zuzana takes the bus", "Zuzana"), person("Ben takes the bus", "Ben"), person("Maja takes the bus", "Maja"),
		person("Ben is ill", "Ben"), person("Ben takes the bus", "Ben"))
	_, key := newReader(t)
	wish := share.ShareSpec{Criteria: share.Criteria{Tags: []string{"garden"}, Most: memory.Personal}, Redact: share.Redaction{Names: true, AtLeast: 3}, To: []string{key}}
	p, err := w.Preview(t.Context(), wish)
	if err != nil || len(p.Copies) != 1 || p.Copies[0].Candidate.Text != "[…] takes the bus" || p.Few != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	wish.Redact.AtLeast = 4
	if _, err := w.Preview(t.Context(), wish); !errors.Is(err, share.ErrNothing) || !strings.Contains(err.Error(), "4 people") {
		t.Errorf("nobody is in a crowd of four: %v", err)
	}
}

// What could still reveal something to a reader is named before it is sent.
func TestRisksAreNamed(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, person("Zuzana told Quentin to call +43 660 123 4567", "Zuzana"), person("The garden 花园 is dry", "Zuzana"))
	_, key := newReader(t)
	wish := share.ShareSpec{Criteria: share.Criteria{Tags: []string{"garden"}, Most: memory.Personal}, To: []string{"Ann=" + key}}
	if _, err := w.Create(t.Context(), wish); err != nil {
		t.Fatal(err)
	}
	wish.Redact.Names = true
	p, err := w.Preview(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range p.Risks {
		all = append(all, string(r.Kind)+": "+r.What)
	}
	list := strings.Join(all, "\n")
	for _, want := range []string{"reaches: “+43 660 123 4567”", "name: “Quentin”", "script: Chinese text (1)", "exact: ", "joins: Ann was given another share on 2026-11-20 that left names in"} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not named in\n%s", want, list)
		}
	}
	wish.Redact = share.Redaction{Names: true, Times: true, Words: []string{"Quentin", "+43 660 123 4567", "花园"}}
	_, other := newReader(t)
	wish.To = []string{other}
	if p, err = w.Preview(t.Context(), wish); err != nil || len(p.Risks) != 0 {
		t.Errorf("all of it was taken out, and nothing was given before: %+v, %v", p.Risks, err)
	}
}

// A memory that the wearer leaves out is not shown, not shared, and not added
// when the share is updated.
func TestLeftOutMemories(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, person("Ann waters the tomatoes", "Ann"), person("Ben eats the tomatoes", "Ben"))
	reader, key := newReader(t)
	wish := share.ShareSpec{Title: "garden", Criteria: share.Criteria{Tags: []string{"garden"}, Most: memory.Personal}, To: []string{"Zoe=" + key}}
	p, err := w.Preview(t.Context(), wish)
	if err != nil || len(p.Copies) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	out := p.Copies[0]
	wish.Criteria.Without = []memory.ID{out.Of}
	if p, err = w.Preview(t.Context(), wish); err != nil || len(p.Copies) != 1 || p.Copies[0].Of == out.Of {
		t.Fatalf("%+v, %v", p, err)
	}
	rec, err := w.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	if _, ch, err := w.Update(t.Context(), rec.Space.String()); err != nil || ch.Added != 0 {
		t.Errorf("%+v, %v", ch, err)
	}
	o, err := reader.Open(t.Context(), rec.Link())
	if err != nil || len(o.Memories) != 1 || o.Memories[0].Text == out.Candidate.Text {
		t.Errorf("the reader sees %+v, %v", o, err)
	}
	wish.Criteria.Without = make([]memory.ID, share.MaxCopies+1)
	if _, err := w.Preview(t.Context(), wish); !errors.Is(err, memory.ErrInvalid) {
		t.Error(err)
	}
}

// The preview, the share and a later addition use the same pseudonym for a
// person; a share of something else uses another.
func TestPseudonymsThroughAShare(t *testing.T) {
	w := newWearer(t, serveRelay(t), person("Zuzana Horak waters the tomatoes", "Zuzana Horak"), person("Zuzana likes basil", "Zuzana"))
	sharing := w.with(func(*share.Config) {})
	reader, key := newReader(t)
	how, err := share.ParseRedaction([]string{"names=pseudonyms"})
	if err != nil {
		t.Fatal(err)
	}
	wish := share.ShareSpec{Criteria: share.Criteria{Tags: []string{"garden"}, Most: memory.Personal}, Redact: how, To: []string{"Ann=" + key}}
	p, err := sharing.Preview(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	wish.Confirm = p.Confirm // which covers the pseudonyms, too
	rec, err := sharing.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	o, err := reader.Open(t.Context(), rec.Link())
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, m := range o.Memories {
		name, _, _ := strings.Cut(m.Text, " ")
		said[name] = true
		if len(m.Entities) != 1 || m.Entities[0].Name != name || !strings.HasPrefix(name, "[") {
			t.Errorf("%q of %v", m.Text, m.Entities)
		}
	}
	if len(o.Memories) != 2 || len(said) != 1 {
		t.Errorf("%d memories of %v", len(o.Memories), said)
	}
	if !slices.ContainsFunc(p.Risks, func(r share.Risk) bool { return r.Kind == share.RiskLinks }) {
		t.Error("the preview has no risk that pseudonyms link memories")
	}
	wish.Confirm, wish.Criteria.Types = "", []memory.Type{memory.Episodic, memory.Semantic}
	other, err := sharing.Preview(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range other.Copies {
		if name, _, _ := strings.Cut(c.Candidate.Text, " "); said[name] {
			t.Errorf("%s in another share", name)
		}
	}
}

// A nonsensical role or rounding is refused.
func TestInvalidRedaction(t *testing.T) {
	for _, s := range []string{"times=hour", "times=", "names=roles", "places=[x]", "Zuzana=", "=my sister", "Zuzana=[x]", "Zuzana=" + strings.Repeat("x", 2000)} {
		if r, err := share.ParseRedaction([]string{s}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%.40q is read as %+v, %v", s, r, err)
		}
	}
}
