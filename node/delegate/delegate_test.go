package delegate

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/canonical"
)

const own = serve.Secret("lka_ABCDEFGHIJKLMNOPQRSTUVWXYZ")

var (
	private = memory.Private
	allowed = serve.AppRequest{Name: "planner", Can: []serve.Right{"read", "add"}, Types: []string{"semantic", "episodic", "utterances"}, Sensitivity: &private, Delegate: 3}
)

func pass(t *testing.T, key serve.Secret, n Narrow, more int) (serve.Secret, string) {
	t.Helper()
	name := ""
	if !Is(key) {
		name = "planner"
	}
	k, id, err := Pass(key, name, n, more)
	if err != nil {
		t.Fatal(err)
	}
	return k, id
}

func TestPassedOn(t *testing.T) {
	one, first := pass(t, own, Narrow{Can: []string{"read", "forget"}, Tags: []string{"work", "home"}}, 2)
	two, second := pass(t, one, Narrow{Types: []string{"episodic"}, Tags: []string{"work", "club"}, Ends: 5000}, 0)
	r, ids, err := Check(two, Root(own), 3, allowed)
	if err != nil || !slices.Equal(ids, []string{first, second}) {
		t.Fatal(ids, err)
	}
	if !slices.Equal(r.Can, []serve.Right{"read"}) || !slices.Equal(r.Types, []string{"episodic"}) || !slices.Equal(r.Tags, []string{"work"}) || !r.Ends.Equal(time.Unix(5000, 0)) {
		t.Errorf("it allows %+v", r)
	}
	if _, _, err := Pass(two, "", Narrow{}, 0); !errors.Is(err, ErrDepth) {
		t.Errorf("passed on further: %v", err)
	}
	if _, _, err := Check(two, Root(own), 1, allowed); !errors.Is(err, ErrDepth) {
		t.Errorf("further than the owner allows: %v", err)
	}
	if _, _, err := Check(one, Root(own), 0, allowed); !errors.Is(err, ErrDepth) {
		t.Errorf("by an app that may not: %v", err)
	}
	if _, _, err := Check(one, Root(own+"x"), 3, allowed); !errors.Is(err, ErrChain) {
		t.Errorf("of another app: %v", err)
	}
	for name, n := range map[string]Narrow{"rights": {Can: []string{"chat"}}, "types": {Types: []string{"core"}}, "tags": {Tags: []string{"club"}}, "utterances": {Types: []string{"utterances"}}} {
		k, _ := pass(t, one, n, 0)
		if r, _, err := Check(k, Root(own), 3, allowed); !errors.Is(err, ErrWider) {
			t.Errorf("%s: nothing is left, and it allows %+v, %v", name, r, err)
		}
	}
}

// The holder of a chain can't remove a link, insert one, change one, or use it without
// its key.
func TestThreatWiderKey(t *testing.T) {
	one, _ := pass(t, own, Narrow{Types: []string{"episodic"}}, 2)
	two, _ := pass(t, one, Narrow{Can: []string{"read"}}, 1)
	stranger, _ := pass(t, "lka_other", Narrow{}, 2)
	change := func(key serve.Secret, f func(*chain)) serve.Secret {
		c, err := read(key)
		if err != nil {
			t.Fatal(err)
		}
		f(c)
		return serve.Secret(prefix + base64.RawURLEncoding.EncodeToString(canonical.Must(canonical.Encoding.Marshal(c))))
	}
	other, _ := read(stranger)
	forged := func(c *chain, i int, s says) {
		c.Links[i].Says = canonical.Must(canonical.Encoding.Marshal(s))
		c.Links[i].Sig = ed25519.Sign(ed25519.NewKeyFromSeed(c.Seed), c.signed(i, c.Links[i].Says))
	}
	next := []byte(ed25519.NewKeyFromSeed(other.Seed).Public().(ed25519.PublicKey))
	for name, k := range map[string]serve.Secret{
		"without its last link":    change(two, func(c *chain) { c.Links = c.Links[:1] }),
		"without its first link":   change(two, func(c *chain) { c.Links = c.Links[1:] }),
		"without links":            change(two, func(c *chain) { c.Links = nil }),
		"links the other way":      change(two, func(c *chain) { slices.Reverse(c.Links) }),
		"a link twice":             change(two, func(c *chain) { c.Links = append(c.Links, c.Links[1]) }),
		"a stranger's link":        change(two, func(c *chain) { c.Links = append(c.Links, other.Links[0]); c.Seed = other.Seed }),
		"another app":              change(two, func(c *chain) { c.App = "crm" }),
		"another key":              change(two, func(c *chain) { c.Seed = other.Seed }),
		"a wider last link":        change(two, func(c *chain) { forged(c, 1, says{Next: next, More: 1}); c.Seed = other.Seed }),
		"a wider first link":       change(one, func(c *chain) { forged(c, 0, says{Next: next, More: 2}); c.Seed = other.Seed }),
		"another version":          change(two, func(c *chain) { c.Version = 2 }),
		"another's":                stranger,
		"no base64":                two + "!",
		"cut off":                  two[:len(two)-4],
		"much too long":            serve.Secret(prefix + strings.Repeat("A", 1<<20)),
		"deeper than the key says": change(two, func(c *chain) { forged2(c, next) }),
	} {
		if r, _, err := Check(k, Root(own), MaxDepth, allowed); err == nil {
			t.Errorf("%s: it allows %+v", name, r)
		}
	}
}

// forged2 adds two links with the chain's own key, which allows one.
func forged2(c *chain, next []byte) {
	seed := bytes.Repeat([]byte{5}, 32)
	mid := ed25519.NewKeyFromSeed(seed)
	for i, s := range []says{{Next: mid.Public().(ed25519.PublicKey), More: 5}, {Next: next}} {
		signer := mid
		if i == 0 {
			signer = ed25519.NewKeyFromSeed(c.Seed)
		}
		raw := canonical.Must(canonical.Encoding.Marshal(s))
		c.Links = append(c.Links, link{raw, ed25519.Sign(signer, c.signed(len(c.Links), raw))})
	}
	c.Seed = seed
}

// What a random chain allows, each of its prefixes allows, too.
func TestChildWithinParent(t *testing.T) {
	list := func(of ...string) *rapid.Generator[[]string] {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, 3, rapid.ID)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) int64 { return rapid.Int64Range(0, 9).Draw(t, name) }
		narrow := func() (n Narrow) {
			n = Narrow{Can: list("read", "add", "chat").Draw(t, "can"), Types: list("semantic", "episodic", "utterances").Draw(t, "types"), Tags: list("a", "b", "c").Draw(t, "tags"),
				Since: at("since"), Until: at("until"), Ends: at("ends")}
			if rapid.Bool().Draw(t, "limited") {
				s := memory.Sensitivity(rapid.IntRange(0, 3).Draw(t, "sensitivity"))
				n.Sensitivity = &s
			}
			return n
		}
		app := allowed
		app.Tags = list("a", "b", "c").Draw(t, "app's tags")
		if len(app.Tags) > 0 {
			app.Types = []string{"semantic", "episodic"}
		}
		key, before := own, app
		for more := 2; more >= 0; more-- {
			name := ""
			if !Is(key) {
				name = "planner"
			}
			k, _, err := Pass(key, name, narrow(), more)
			if err != nil {
				t.Fatal(err)
			}
			r, _, err := Check(k, Root(own), 3, app)
			if errors.Is(err, ErrWider) {
				return // nothing is left
			}
			if err != nil {
				t.Fatal(err)
			}
			wider := func(a, b []string) bool {
				return slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
			}
			rights := func(l []serve.Right) (out []string) {
				for _, x := range l {
					out = append(out, string(x))
				}
				return out
			}
			switch {
			case wider(rights(r.Can), rights(before.Can)), wider(r.Types, before.Types), *r.Sensitivity > *before.Sensitivity,
				len(before.Tags) > 0 && (len(r.Tags) == 0 || wider(r.Tags, before.Tags)), r.Since.Before(before.Since),
				!before.Until.IsZero() && (r.Until.IsZero() || r.Until.After(before.Until)), !before.Ends.IsZero() && (r.Ends.IsZero() || r.Ends.After(before.Ends)):
				t.Fatalf("%+v is wider than %+v", r, before)
			}
			if slices.Contains(r.Types, "utterances") && (len(r.Tags) > 0 || *r.Sensitivity < memory.Private) {
				t.Fatalf("lines without tags or sensitivity pass: %+v", r)
			}
			key, before = k, r
		}
	})
}

func FuzzCheck(f *testing.F) {
	k, _, err := Pass(own, "planner", Narrow{Can: []string{"read"}}, 0)
	if err != nil {
		f.Fatal(err)
	}
	// Each process of the fuzzer has its own key, so inputs say how to change it.
	f.Add(uint16(0), byte(1), uint16(0), "")
	f.Add(uint16(40), byte(0x20), uint16(7), "x")
	f.Add(uint16(0), byte(0), uint16(1), "lka_.")
	f.Add(uint16(0), byte(0), uint16(0), "\r")
	f.Fuzz(func(t *testing.T, at uint16, by byte, cut uint16, tail string) {
		b := []byte(k)
		b[int(at)%len(b)] ^= by
		key := string(b[:len(b)-int(cut)%len(b)]) + tail
		if _, _, err := Check(serve.Secret(key), Root(own), 3, allowed); err == nil && key != string(k) {
			t.Errorf("%q was taken", key)
		}
	})
}
