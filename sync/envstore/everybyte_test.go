package envstore

import (
	"bytes"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/sync/replica"
)

var (
	everyByte = flag.Bool("every-byte", false, "TestEveryByteIsNamed changes every bit of every file, not some")
	byteSeed  = flag.Uint64("seed", 0, "which bits TestEveryByteIsNamed changes; 0: others in each hour")
)

// One bit of any file is changed. Then either opening or checking the store
// reports it, or every delta is as before, with its body.
func TestEveryByteIsNamed(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	s := newStore(t, dir, log)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	var refs []replica.Ref
	for range 3 {
		d := p.say(t, "one")
		take(t, s, d, w.say(t, "two"))
		refs = append(refs, replica.Ref{Member: phone.id, Position: d.Header.Position()})
	}
	take(t, s, p.say(t, "three"))
	// The body of the second line was removed. A change in the last line alone can't be
	// distinguished from a crash before its body was removed.
	if err := s.Forget(t.Context(), refs[:2]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Upload(t.Context(), strings.NewReader("a photo")); err != nil {
		t.Fatal(err)
	}
	want := bodies(t, s)
	sound := os.DirFS(dir)
	seed := *byteSeed
	if seed == 0 {
		seed = uint64(time.Now().Unix() / 3600)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	tried, named := 0, 0
	all := map[string][]byte{}
	err := fs.WalkDir(sound, ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all[path], err = fs.ReadFile(sound, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	for path, b := range all {
		count := len(b)
		if filepath.Base(path) == "gone" {
			count = bytes.IndexByte(b, '\n') + 1
		}
		for n := range 8 * count {
			if !*everyByte {
				if n == 10 {
					break
				}
				n = rng.IntN(8 * count)
			}
			at, mask := n/8, byte(1)<<(n%8)
			if err := os.RemoveAll(work); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(work, sound); err != nil {
				t.Fatal(err)
			}
			c := bytes.Clone(b)
			c[at] ^= mask
			if err := os.WriteFile(filepath.Join(work, path), c, 0o600); err != nil {
				t.Fatal(err)
			}
			tried++
			again, err := Open(work, log[0].Bytes())
			if err != nil {
				named++
				continue
			}
			found, err := again.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				named++
				continue
			}
			if got := bodies(t, again); got != want {
				t.Errorf("%s: byte %d with %#02x changed, seed %d: nothing is named, and it says\n%s, said\n%s", path, at, mask, seed, got, want)
			}
		}
	}
	t.Logf("seed %d: %d bits changed, %d named", seed, tried, named)
	if named == 0 {
		t.Error("nothing was named")
	}
}
