package day

import (
	"bytes"
	"image"
	"image/draw"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/memory"
)

const seeds = 50

// made are the days of the first seeds, made once for all tests.
var made = sync.OnceValues(func() ([]*Day, error) {
	var days []*Day
	for seed := range uint64(seeds) {
		d, err := Generate(seed)
		if err != nil {
			return nil, err
		}
		days = append(days, d)
	}
	return days, nil
})

func mustMake(t testing.TB) []*Day {
	t.Helper()
	days, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return days
}

func mustGenerate(t testing.TB, seed uint64) *Day {
	t.Helper()
	d, err := Generate(seed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSameSeedSameBytes(t *testing.T) {
	for seed, a := range mustMake(t)[:8] {
		b := mustGenerate(t, uint64(seed))
		if !slices.Equal(a.FileNames(), b.FileNames()) {
			t.Fatal(a.FileNames(), b.FileNames())
		}
		for _, n := range a.FileNames() {
			x, _ := a.File(n)
			y, _ := b.File(n)
			if !bytes.Equal(x, y) {
				t.Errorf("seed %d: %s differs", seed, n)
			}
		}
	}
}

func TestGeneratedDaysAreValidAndDiffer(t *testing.T) {
	seen := map[string]map[string]bool{}
	note := func(what, value string) {
		if seen[what] == nil {
			seen[what] = map[string]bool{}
		}
		seen[what][value] = true
	}
	for seed, d := range mustMake(t) {
		talk, zh := 0, 0
		for _, l := range d.Lines {
			if l.Kind == memory.KindText {
				talk++
				note("talk", l.Text)
				note("speaker", l.Speaker)
				if l.Lang == "zh" {
					zh++
				}
				if strings.ContainsAny(l.Text, "{}") {
					t.Errorf("seed %d: line %d: %q", seed, l.Number, l.Text)
				}
			}
		}
		if talk < 80 || zh < 8 {
			t.Errorf("seed %d: %d lines of talk, %d Chinese", seed, talk, zh)
		}
		for _, s := range d.Expect.Secrets {
			note("secret", s.Value)
			note("secret's name", s.Name)
		}
		for _, q := range d.Expect.Questions {
			if len(q.Current) > 0 {
				note("change", q.Current[0])
				l, _ := d.Line(q.Lines[0])
				note("change's words", l.Text)
			}
		}
		note("wearer", d.Wearer)
		note("date", d.Date)
		note("zone", d.Zone)
		note("note", strings.Join(d.Expect.Notes[0].Text, "\n"))
		for _, p := range d.Expect.Procedures {
			l, _ := d.Line(p.Lines[0])
			note("how-to", l.Text)
		}
		t.Run("", func(t *testing.T) { checkExpect(t, d) })
	}
	for what, least := range map[string]int{
		"talk": 1200, "speaker": 80, "secret": 4 * seeds, "secret's name": 12, "change": 40, "change's words": 70,
		"wearer": 25, "date": 35, "zone": 10, "note": 45, "how-to": 25,
	} {
		if n := len(seen[what]); n < least {
			t.Errorf("%d different values of %s over %d days, want at least %d", n, what, seeds, least)
		}
	}
}

func TestGeneratedDayIsReadBack(t *testing.T) {
	dir := t.TempDir()
	d := mustMake(t)[7]
	if err := d.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	a, b := collect(d), collect(again)
	if len(a) != len(b) {
		t.Fatalf("%d events, read back %d", len(a), len(b))
	}
	for i := range a {
		if a[i].ID != b[i].ID || !a[i].At.Equal(b[i].At) || a[i].Text != b[i].Text || !bytes.Equal(a[i].Data, b[i].Data) {
			t.Fatalf("event %d differs: %v, %v", i, a[i].ID, b[i].ID)
		}
	}
}

func TestEveryPhrasingHasFiveVariants(t *testing.T) {
	lists := map[string][]string{
		"visitOld": visitOld, "visitOffer": visitOffer, "visitPropose": visitPropose, "visitNew": visitNew,
		"visitConfirm": visitConfirm, "visitTold": visitTold, "homeOld": homeOld, "homeOldHan": homeOldHan,
		"homeNew": homeNew, "homeNewHan": homeNewHan, "firmOld": firmOld, "firmNew": firmNew,
		"allergySaid": allergySaid, "bringSaid": bringSaid, "howtoAsked": howtoAsked, "splitSecond": splitSecond,
	}
	for _, fs := range [][]fact{homeFacts, workFacts, outFacts, eveningFacts, lunchFacts, friendFacts} {
		for _, f := range fs {
			lists[f.ask] = f.say
		}
	}
	for _, cs := range [][]creds{officeSecrets, homeSecrets, hanSecrets} {
		for _, c := range cs {
			lists[c.name] = c.say
		}
	}
	for _, s := range splitSecrets {
		lists[s.name] = s.first
	}
	for name, l := range lists {
		if n := len(slices.Compact(slices.Sorted(slices.Values(l)))); n < 5 {
			t.Errorf("%s: %d phrasings", name, n)
		}
	}
}

// TestPhotosLookAsExpected uses its own difference hash: which of two neighbouring patches is
// lighter, 8 by 8 times.
func TestPhotosLookAsExpected(t *testing.T) {
	for i, d := range append([]*Day{mustFixed(t)}, mustMake(t)...) {
		hash := func(name string) uint64 { return differenceHash(t, d, name) }
		for _, p := range d.Expect.Photos.Alike {
			if n := bits.OnesCount64(hash(p[0]) ^ hash(p[1])); n > 6 {
				t.Errorf("day %d: %v differ in %d of 64 bits", i, p, n)
			}
		}
		apart := d.Expect.Photos.Apart
		for k, a := range apart {
			for _, b := range apart[k+1:] {
				if n := bits.OnesCount64(hash(a) ^ hash(b)); n < 16 {
					t.Errorf("day %d: %s and %s differ in %d of 64 bits only", i, a, b, n)
				}
			}
		}
	}
}

func differenceHash(t *testing.T, d *Day, name string) uint64 {
	t.Helper()
	b, ok := d.File(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r := img.Bounds()
	grey := image.NewGray(r)
	draw.Draw(grey, r, img, r.Min, draw.Src)
	mean := func(cx, cy int) float64 {
		sum, n := 0.0, 0.0
		for y := r.Min.Y + cy*r.Dy()/8; y < r.Min.Y+(cy+1)*r.Dy()/8; y += 2 {
			for x := r.Min.X + cx*r.Dx()/9; x < r.Min.X+(cx+1)*r.Dx()/9; x += 2 {
				sum, n = sum+float64(grey.Pix[grey.PixOffset(x, y)]), n+1
			}
		}
		return sum / n
	}
	var h uint64
	for y := range 8 {
		for x := range 8 {
			h <<= 1
			if mean(x+1, y) > mean(x, y) {
				h |= 1
			}
		}
	}
	return h
}

func collect(d *Day) []Event {
	var out []Event
	for e := range d.Events() {
		out = append(out, e)
	}
	return out
}

// TestGeneratedSecretsDoNotOverlap: a PIN's words once contained half of a split code.
func TestGeneratedSecretsDoNotOverlap(t *testing.T) {
	for _, seed := range []uint64{1063, math.MaxUint64} {
		d := mustGenerate(t, seed)
		for i, a := range d.Expect.Secrets {
			for k, b := range d.Expect.Secrets {
				for _, f := range b.Forms {
					if i != k && holdsAny(f, a.Forms) {
						t.Errorf("seed %d: %s stands in %s", seed, a.Name, b.Name)
					}
				}
			}
		}
	}
}
