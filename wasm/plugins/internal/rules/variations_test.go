package rules

import (
	"fmt"
	"hash/fnv"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// variations is how many utterances are made from a line of testdata/variations.
const variations = 10

// hole is a place for a value of a list: {city}, {city2}.
var hole = regexp.MustCompile(`\{([^{}0-9]+)([0-9]?)\}`)

// vary fills the holes of a line; the same line and n give the same words.
// Holes with a number get another value than the one without.
func vary(lists map[string][]string, line string, n int) string {
	return hole.ReplaceAllStringFunc(line, func(s string) string {
		m := hole.FindStringSubmatch(s)
		values := lists[m[1]]
		if len(values) < variations {
			panic("no ten values for " + s)
		}
		template, _, _ := strings.Cut(line, "\t")
		h := fnv.New32a()
		h.Write([]byte(template + m[1]))
		at := int(h.Sum32()%97) + n
		if m[2] != "" {
			at += 1 + int(m[2][0]-'0')
		}
		return values[at%len(values)]
	})
}

// slotWords are the lists' words for relatives that a slot has another word for.
var slotWords = strings.NewReplacer("user's dad", "user's father", "user's mum", "user's mother", "dad=", "father=", "mum=", "mother=",
	"user的爸.", "user的爸爸.", "user的妈.", "user的妈妈.")

// TestVariations tests the rules with lines that were once read wrong, ten utterances each, with
// other names, relatives and things: {city} in a line of testdata/variations stands for a value of
// its list, {city2} for another. After a tab come the expected results of the last turn, as in
// said.txt; "says TEXT" for what one of the texts contains, "slot SUBJECT|ATTRIBUTE" for the slot
// of one ("slot ATTRIBUTE" for the wearer's), which needs no key, "no ATTRIBUTE" for what must not
// be proposed, "nothing" if there must be no result, "only" if there must be no other, "!" if
// something has ended.
func TestVariations(t *testing.T) {
	lists := variationLists(t)
	files, err := filepath.Glob("testdata/variations/*.txt")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if name == "lists" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			said, right := 0, 0
			for line := range lines(t, file) {
				for n := range variations {
					text, want, _ := strings.Cut(vary(lists, line, n), "\t")
					want = slotWords.Replace(want)
					said++
					out := hear(t, text)
					if got := keys(out); meets(got, strings.ToLower(want)) && says(out, want) && slots(out, strings.ToLower(want)) && standAlone(out) {
						right++
					} else {
						t.Errorf("%s: %q, want %s", text, got, want)
						for i := range out.Candidates {
							t.Logf("%q", out.Candidates[i].Text)
						}
					}
				}
			}
			t.Logf("%d of %d right", right, said)
		})
	}
}

// variationLists are the values of the holes, by name.
func variationLists(t *testing.T) map[string][]string {
	lists := map[string][]string{}
	for line := range lines(t, "testdata/variations/lists.txt") {
		name, values, _ := strings.Cut(strings.TrimPrefix(line, "= "), ": ")
		lists[name] = strings.Split(values, " | ")
	}
	return lists
}

// lines returns the lines of a file that are neither empty nor a comment.
func lines(t *testing.T, file string) iter.Seq[string] {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(string(b), "\n") {
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// meets reports whether keys are what a line of the file expects.
func meets(got []string, want string) bool {
	needed := 0
	only := want == "nothing"
	for k := range strings.SplitSeq(want, "; ") {
		switch {
		case k == "nothing", strings.HasPrefix(k, "says "), strings.HasPrefix(k, "slot "):
		case k == "only":
			only = true
		case k == "!": // something has ended
			if !slices.ContainsFunc(got, func(s string) bool { return s[0] == '!' }) {
				return false
			}
		case strings.HasPrefix(k, "no "):
			attr, of, _ := strings.Cut(k[len("no "):], " of ")
			if slices.ContainsFunc(got, func(s string) bool { return about(s, attr, of) }) {
				return false
			}
		case !slices.Contains(got, k):
			return false
		default:
			needed++
		}
	}
	if only && needed == 0 && want != "nothing" {
		needed = 1 // the key of the slot
	}
	return !only || len(got) == needed
}

// says reports whether, for each "says TEXT" of want, a candidate's text contains it.
func says(out *abi.Output, want string) bool {
	for k := range strings.SplitSeq(want, "; ") {
		text, ok := strings.CutPrefix(k, "says ")
		if ok && !slices.ContainsFunc(out.Candidates, func(c abi.Candidate) bool { return strings.Contains(c.Text, text) }) {
			return false
		}
	}
	return true
}

// slots reports whether, for each "slot SUBJECT|ATTRIBUTE" of want, a candidate has that slot.
func slots(out *abi.Output, want string) bool {
	for k := range strings.SplitSeq(want, "; ") {
		slot, ok := strings.CutPrefix(k, "slot ")
		if !strings.Contains(slot, "|") {
			slot = "user|" + slot
		}
		if ok && !slices.ContainsFunc(out.Candidates, func(c abi.Candidate) bool {
			return c.Slot != nil && strings.ToLower(c.Slot.Subject+"|"+c.Slot.Attribute) == slot
		}) {
			return false
		}
	}
	return true
}

// standAlone reports whether the text of each fact names whom or what the fact is about: its
// subject, or its subject without its owner.
func standAlone(out *abi.Output) bool {
	for i := range out.Candidates {
		c := &out.Candidates[i]
		if c.Type == "semantic" && c.Subject != "" && !strings.Contains(strings.ToLower(c.Text), strings.ToLower(c.Subject)) {
			return false
		}
	}
	return true
}

// about reports whether a key has an attribute, and is about somebody: "user" is the wearer, ""
// anybody. "!home" is a home that has ended; "home" either.
func about(key, attr, of string) bool {
	ended, ok := strings.CutPrefix(key, "!")
	attr, only := strings.CutPrefix(attr, "!")
	if only && !ok {
		return false
	}
	head := ended
	if i := strings.IndexAny(ended, "=@"); i >= 0 { // a value, or a time
		head = ended[:i]
	}
	subject, name := "user", head
	if i := strings.LastIndexByte(head, '.'); i >= 0 {
		subject, name = head[:i], head[i+1:]
	}
	return name == attr && (of == "" || of == subject)
}

// The same line gives the same utterances, and ten different ones if it has a hole.
func TestVary(t *testing.T) {
	lists := map[string][]string{"x": nil}
	for i := range 12 {
		lists["x"] = append(lists["x"], fmt.Sprint("v", i))
	}
	seen := map[string]bool{}
	for n := range variations {
		s := vary(lists, "a {x} b {x2} c {x}", n)
		f := strings.Fields(s)
		if f[1] == f[3] || f[1] != f[5] || s != vary(lists, "a {x} b {x2} c {x}", n) {
			t.Errorf("%q", s)
		}
		seen[s] = true
	}
	if len(seen) != variations {
		t.Errorf("%d different ones", len(seen))
	}
}
