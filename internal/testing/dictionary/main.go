// Command dictionary trains the dictionaries of the packages delta and store, on days that are
// generated from seeds and contain nobody's words. It is run by hand, when the form of ops or
// records has changed so much that a new dictionary is worthwhile:
//
//	go run ./internal/testing/dictionary -id 2 -o sync/delta/dictionary.2
//	go run ./internal/testing/dictionary -of records -id 2 -o memory/store/dictionary.2
//
// It calls zstd's own trainer (zstd, 1.5 or later, on the PATH). A dictionary that was used for
// writing must stay in the repository for good.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/sample"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// firstSeed is the seed of the first training day; tests measure on others.
const firstSeed = 1000

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("dictionary", flag.ContinueOnError)
	flags.SetOutput(stderr)
	id := flags.Int("id", 0, "number of the dictionary, from 1")
	out := flags.String("o", "", "file to write")
	of := flags.String("of", "deltas", "what to train on: deltas, or records of a store")
	days := flags.Int("days", 60, "how many days to train on")
	size := flags.Int("size", 16<<10, "bytes of the dictionary")
	if flags.Parse(args) != nil {
		return 2
	}
	samples := map[string]func(dir string, seed uint64) error{"deltas": deltas, "records": records}[*of]
	if *id < 1 || *out == "" || samples == nil {
		fmt.Fprintln(stderr, "dictionary: -id and -o are needed, and -of takes deltas or records")
		return 2
	}
	if err := train(samples, *id, *out, *days, *size, stderr); err != nil {
		fmt.Fprintln(stderr, "dictionary:", err)
		return 1
	}
	return 0
}

func train(samples func(dir string, seed uint64) error, id int, out string, days, size int, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "locket-dictionary-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for seed := range uint64(days) {
		if err := samples(dir, firstSeed+seed); err != nil {
			return err
		}
	}
	cmd := exec.Command("zstd", "--train", "-q", "-r", dir, "--maxdict="+strconv.Itoa(size), "--dictID="+strconv.Itoa(id), "-19", "-o", out)
	cmd.Stderr = stderr
	return cmd.Run()
}

// deltas writes the content of deltas: a memory alone, an utterance alone, an utterance with its
// memories.
func deltas(dir string, seed uint64) error {
	d, err := day.Generate(seed)
	if err != nil {
		return err
	}
	h := header(seed)
	ops, err := sample.Of(d, h.Space, h.Member)
	if err != nil {
		return err
	}
	n := 0
	write := func(ops ...delta.Op) error {
		n++
		b, err := delta.Plain(h, ops)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%d", seed, n)), b, 0o600)
	}
	for i := range ops.Assertions {
		if err := write(delta.Op{Assertion: &ops.Assertions[i]}); err != nil {
			return err
		}
	}
	for i := range ops.Utterances {
		u := &ops.Utterances[i]
		said := []delta.Op{{Utterance: u}}
		for j := range ops.Assertions {
			a := &ops.Assertions[j]
			if e := a.Candidate.Evidence; len(e) > 0 && e[0].Utterance == u.ID {
				said = append(said, delta.Op{Assertion: a})
			}
		}
		if len(said) > 1 || i%4 == 0 {
			if err := write(said...); err != nil {
				return err
			}
		}
	}
	return nil
}

// header makes a header with the ids of a different space for each day.
func header(seed uint64) envelope.Header {
	s := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("locket dictionary"), seed))
	h := envelope.Header{Incarnation: seed, Seq: 1, Head: envelope.Hash(s), Epoch: 1}
	h.Space, h.Member = memory.SpaceID(s[:16]), memory.MemberID(s[16:24])
	return h
}
