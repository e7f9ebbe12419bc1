package trust

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/wasm"
)

var (
	annKey  = strings.Repeat("a1", 32)
	mallory = strings.Repeat("ee", 32)
)

func plugin(id, version, publisher string, caps ...wasm.Capability) *wasm.Manifest {
	return &wasm.Manifest{ID: id, Version: version, ABI: 1, Title: "t", Kinds: []string{"text"}, Types: []string{"semantic"}, Capabilities: caps,
		Publisher: publisher, SHA256: strings.Repeat("00", 32)}
}

func TestPropose(t *testing.T) {
	caps := plugin("ann/parking", "1.2.0", annKey, wasm.CapState)
	home := Home{
		Pins: map[string]Pin{
			"ann/parking": {annKey, "1.2.0", caps.SHA256},
			"ann/gone":    {annKey, "1.2.0", caps.SHA256}, // removed since
			"mine":        {"", "0.1.0", caps.SHA256},
		},
		Agreed: map[string][]string{"ann/parking": Asks(caps), "mine": Asks(plugin("mine", "0.1.0", ""))},
		Taken:  []string{"facts", "secrets"},
	}
	other := plugin("ann/parking", "1.2.0", annKey, wasm.CapState)
	other.SHA256 = strings.Repeat("11", 32)
	other2 := plugin("mine", "0.1.0", "")
	other2.SHA256 = other.SHA256
	photos := plugin("ann/parking", "1.3.0", annKey, wasm.CapState)
	photos.Kinds = []string{"text", "photo"}
	for name, c := range map[string]struct {
		m     *wasm.Manifest
		o     Options
		want  error
		step  Step
		added int
	}{
		"new":                           {m: plugin("bob/tea", "1.0.0", mallory), step: New, added: 2},
		"upgrade":                       {m: plugin("ann/parking", "1.10.0", annKey, wasm.CapState), step: Upgrade},
		"upgrade with less":             {m: plugin("ann/parking", "1.3.0", annKey), step: Upgrade},
		"upgrade with more":             {m: plugin("ann/parking", "1.3.0", annKey, wasm.CapState, wasm.CapContext), step: Upgrade, added: 1},
		"upgrade that sees photos":      {m: photos, step: Upgrade, added: 1},
		"removed, back again":           {m: plugin("ann/gone", "1.2.0", annKey), step: New, added: 2},
		"removed, back by another":      {m: plugin("ann/gone", "1.3.0", mallory), want: ErrPublisher},
		"removed, back older":           {m: plugin("ann/gone", "1.1.0", annKey), want: ErrDowngrade},
		"again":                         {m: plugin("ann/parking", "1.2.0", annKey, wasm.CapState), step: Again},
		"same version, other module":    {m: other, want: ErrChanged},
		"downgrade":                     {m: plugin("ann/parking", "1.1.9", annKey, wasm.CapState), want: ErrDowngrade},
		"pre-release of what is there":  {m: plugin("ann/parking", "1.2.0-rc.1", annKey, wasm.CapState), want: ErrDowngrade},
		"another key":                   {m: plugin("ann/parking", "2.0.0", mallory), want: ErrPublisher},
		"signature dropped":             {m: plugin("ann/parking", "2.0.0", ""), o: Options{Unsigned: true}, want: ErrPublisher},
		"another key, same prefix":      {m: plugin("ann/notes", "1.0.0", mallory), want: ErrPublisher},
		"same key, same prefix":         {m: plugin("ann/notes", "1.0.0", annKey), step: New, added: 2},
		"the prefix is no plugin":       {m: plugin("ann", "1.0.0", mallory), step: New, added: 2},
		"own plugin, built again":       {m: other2, o: Options{Unsigned: true}, step: Upgrade},
		"unsigned":                      {m: plugin("x", "1.0.0", ""), want: ErrUnsigned},
		"unsigned, agreed":              {m: plugin("x", "1.0.0", ""), o: Options{Unsigned: true}, step: New, added: 2},
		"own plugin gets signed":        {m: plugin("mine", "0.2.0", annKey), step: Upgrade},
		"built-in":                      {m: plugin("facts", "9.0.0", annKey), want: ErrReserved},
		"looks like a built-in":         {m: plugin("faacts", "9.0.0", annKey), want: ErrLookalike},
		"looks like another":            {m: plugin("ann/parklng", "1.0.0", annKey), want: ErrLookalike},
		"other prefix that looks alike": {m: plugin("arn/x", "1.0.0", mallory), step: New, added: 2},
		"rn for m":                      {m: plugin("rnine", "1.0.0", mallory), want: ErrLookalike},
		"looks alike, agreed":           {m: plugin("rnine", "1.0.0", mallory), o: Options{Lookalike: true}, step: New, added: 2},
	} {
		p, err := Propose(c.m, home, c.o)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
			continue
		}
		if c.want != nil {
			continue
		}
		if p.Step != c.step || len(p.Added) != c.added {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// Every word that a manifest may contain has a sentence of its own, and the sentences about reading
// and writing are complete.
func TestEveryRightIsExplained(t *testing.T) {
	types := []string{"core", "episodic", "semantic", "procedural", "resource"}
	seen := map[string]bool{}
	for _, k := range wasm.Kinds() {
		m := &wasm.Manifest{Kinds: []string{k}}
		if r := Reads(m); len(r) != 1 || seen[r[0]] {
			t.Errorf("kind %s: %q", k, r)
		} else {
			seen[r[0]] = true
		}
	}
	for _, k := range types {
		m := &wasm.Manifest{Types: []string{k}}
		if w := Writes(m); len(w) != 1 || seen[w[0]] {
			t.Errorf("type %s: %q", k, w)
		} else {
			seen[w[0]] = true
		}
	}
	for _, c := range wasm.Capabilities() {
		m := &wasm.Manifest{Capabilities: []wasm.Capability{c}}
		all := slices.Concat(Reads(m), Writes(m))
		if len(all) == 0 {
			t.Errorf("capability %s has no sentence that explains it", c)
		}
		for _, s := range all {
			if seen[s] || !strings.HasSuffix(s, ".") {
				t.Errorf("capability %s: %q", c, s)
			}
			seen[s] = true
		}
	}
}

func TestCompare(t *testing.T) {
	order := []string{"0.0.1", "0.1.0-alpha", "0.1.0-rc.2", "0.1.0-rc.10", "0.1.0", "0.9.0", "0.10.0", "1.0.0", "1.0.01-x", "1.0.1"}
	for i, a := range order {
		for j, b := range order {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := Compare(a, b); got != want {
				t.Errorf("%s, %s: %d", a, b, got)
			}
		}
	}
}

func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugins", "pins.json")
	key := seal.NewKey()
	b, err := OpenBook(path, key)
	if err != nil || len(b.Pins()) != 0 {
		t.Fatal(err)
	}
	pin := Pin{annKey, "1.2.0", "00"}
	if err := b.Put("ann/parking", pin); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Error(st, err)
	}
	again, err := OpenBook(path, key)
	if err != nil || !reflect.DeepEqual(again.Pins()["ann/parking"], pin) {
		t.Errorf("%v %+v", err, again)
	}
	if err := again.Forget("ann/parking"); err != nil {
		t.Fatal(err)
	}
	if b, err = OpenBook(path, key); err != nil || len(b.Pins()) != 0 {
		t.Errorf("%v %+v", err, b)
	}
	for _, text := range []string{"", "{", `{"version":2}`, `{"version":1,"pin":{}}`, `{"version":1,"pins":{}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenBook(path, key); err == nil {
			t.Errorf("%q was taken for pins", text)
		}
	}
}
