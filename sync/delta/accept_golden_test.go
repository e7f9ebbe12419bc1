package delta

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var updateAccept = flag.Bool("update-accept", false, "write testdata/accept.json anew")

// acceptVector is one op of a worker, what is known when it comes, and the verdict.
type acceptVector struct {
	Name    string      `json:"name"`
	By      string      `json:"by"` // the worker's member id
	Grant   grantVector `json:"grant"`
	Known   knownVector `json:"known"`
	Op      acceptedOp  `json:"op"`
	Verdict string      `json:"verdict"`
}

type grantVector struct {
	Types       []memory.Type `json:"types"`
	Transcribe  bool          `json:"transcribe"`
	PerEvidence int           `json:"per_evidence"` // 0: 16
}

type knownVector struct {
	Proposed   map[string][]memory.Type    `json:"proposed"` // by memory
	Gone       []string                    `json:"gone"`     // memories that were erased
	Utterances map[string]memory.Utterance `json:"utterances"`
	Sources    []string                    `json:"sources"` // events of recordings and photos
	Made       map[string][]time.Time      `json:"made"`    // when these were made, by members other than workers
	Cited      int                         `json:"cited"`   // assertions for each piece of evidence, made before by this worker
	Changed    int                         `json:"changed"` // changes of each memory, made before by this worker
	Lines      int                         `json:"lines"`   // lines of this event and count, made before by this worker
}

type acceptedOp = json.RawMessage

func vectorOf(name string, op *Op, g Grant, s *facts, got Verdict) acceptVector {
	v := acceptVector{Name: name, By: workerID.String(), Grant: grantVector(g), Verdict: got.String(),
		Known: knownVector{Proposed: map[string][]memory.Type{}, Utterances: map[string]memory.Utterance{}, Made: map[string][]time.Time{}, Cited: s.cited, Changed: s.changed, Lines: s.lines}, Op: must(json.Marshal(op))}
	for id, types := range s.proposed {
		v.Known.Proposed[id.String()] = types
	}
	for id := range s.gone {
		v.Known.Gone = append(v.Known.Gone, id.String())
	}
	for id, u := range s.utterances {
		v.Known.Utterances[id.String()] = *u
	}
	for e, made := range s.sources {
		v.Known.Sources = append(v.Known.Sources, e.String())
		v.Known.Made[e.String()] = []time.Time{made}
	}
	return v
}

// checkVectors compares them with the file.
func checkVectors(t *testing.T, vs []acceptVector) {
	t.Helper()
	path := filepath.Join("testdata", "accept.json")
	b, err := json.MarshalIndent(vs, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *updateAccept {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
		t.Errorf("%s is not what the table says (%v): -update-accept writes it", path, err)
	}
}
