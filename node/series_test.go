package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

// fields returns a photo of light and dark fields, which differ for each number.
func fields(t *testing.T, n int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 120, 80))
	pick := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range 12 * 8 {
		light := uint8(255 * pick.IntN(2))
		for j := range 100 {
			m.SetGray(i%12*10+j%10, i/12*10+j/10, color.Gray{Y: light})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// photoComes has a photo arrive from the glasses.
func photoComes(t *testing.T, n *Node, at time.Time, data []byte) {
	t.Helper()
	comesEvent(t, n, memory.Event{ID: memory.EventID{Device: "glasses", Boot: 1, Seq: uint64(at.Unix())}, Kind: memory.KindPhoto, At: at, Received: at, Clock: memory.ClockWall, Codec: "png", Data: data})
}

// sees is a model that says how many photos it is shown.
func sees(r *llmtest.Request) string {
	if r.Pictures == 1 {
		return "One photo of bars."
	}
	return fmt.Sprintf(`{"summary":"%d photos of bars.","frames":[{"n":2,"caption":"The wifi password is tulip-42-harbor."}]}`, r.Pictures)
}

func addSight(t *testing.T, n *Node, s *llmtest.Server, r serve.AddEngineRequest) {
	t.Helper()
	r.Kind, r.Model = "eyes", s.Model()
	if r.Address == "" {
		r.Address = s.URL
	}
	if _, err := n.AddEngine(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// seenBy returns what the model of photos made of them, in order of time, and how many photos are
// in no memory.
func seenBy(t *testing.T, n *Node) (made []memory.Memory, unseen int) {
	t.Helper()
	photos, in := map[string]bool{}, map[string]int{}
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}}) {
			switch {
			case err != nil:
				return err
			case m.Fields.Resource.MediaType == "image/png":
				photos[m.ID.String()] = slices.Contains(m.Tags, engines.TagCaptioned)
			default:
				made = append(made, *m)
				for _, l := range m.Links {
					in[l.To]++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, tagged := range photos {
		if in[id] > 1 || tagged != (in[id] == 1) {
			t.Errorf("photo %s is in %d memories, tagged: %v", id, in[id], tagged)
		}
		if in[id] == 0 {
			unseen++
		}
	}
	slices.SortFunc(made, func(a, b memory.Memory) int { return a.TrueFrom.Compare(b.TrueFrom) })
	return made, unseen
}

// A model beside the node gets photos as a worker's model does: twenty at once, or those before a
// pause. A secret in what it says goes to the vault. A single photo gets a caption.
func TestPhotoSeriesWithALocalModel(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(sees))
	n := running(t, nil)
	for i := range 23 {
		photoComes(t, n, evening.Add(time.Duration(i)*time.Second), fields(t, i))
	}
	photoComes(t, n, evening.Add(time.Hour), fields(t, 50))
	addSight(t, n, s, serve.AddEngineRequest{})
	eventually(t, "all photos", func() bool { e := engineOfKind(t, n, "eyes"); return e.Done == 24 && e.Waiting == 0 })
	made, unseen := seenBy(t, n)
	if len(made) != 3 || unseen != 0 {
		t.Fatalf("%d without, %+v", unseen, made)
	}
	for i, want := range []int{20, 3} {
		m := made[i]
		if len(m.Links) != want || m.Links[0].Relation != result.SequenceOf || m.Metadata["frames"] != fmt.Sprint(want) || m.Metadata["redacted"] != "1" || m.Rank != memory.RankDevice || m.Source.Plugin != "engine/sequence" ||
			!strings.HasPrefix(m.Text, fmt.Sprintf("%d photos of bars.\n19:00:%02d", want, 20*i+1)) || !m.TrueTo.After(m.TrueFrom) {
			t.Errorf("%+v", m)
		}
	}
	if m := made[2]; m.Text != "One photo of bars." || m.Links[0].Relation != result.CaptionOf {
		t.Errorf("%+v", m)
	}
	vault := 0
	for r, err := range n.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Data), "tulip-42") {
			t.Errorf("the export has %s", r.Data)
		}
		vault += strings.Count(string(r.Data), `"type":"vault"`)
	}
	if vault == 0 {
		t.Error("the secret is not in the vault")
	}
	if got := len(s.Requests()); got != 4 { // including the sample
		t.Errorf("asked %d times", got)
	}
}

// A model that does not accept several photos gets them one by one, and a photo that can't be
// opened is parked alone, with the reason.
func TestPhotoSeriesIsSplitAfterARefusal(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(func(srv *llmtest.Server, w http.ResponseWriter, r *http.Request, q *llmtest.Request) {
		if q.Pictures > 1 {
			llmtest.Fails(http.StatusBadRequest, "", "the request exceeds the available context size")(srv, w, r, q)
			return
		}
		llmtest.Func(sees)(srv, w, r, q)
	})
	n := running(t, nil)
	for i := range 3 {
		photoComes(t, n, evening.Add(time.Duration(i)*time.Second), fields(t, i))
	}
	addSight(t, n, s, serve.AddEngineRequest{})
	eventually(t, "each alone", func() bool { e := engineOfKind(t, n, "eyes"); return e.Done == 3 && e.Waiting == 0 })
	if made, unseen := seenBy(t, n); len(made) != 3 || unseen != 0 {
		t.Errorf("%d without, %+v", unseen, made)
	}
}

// A model on another machine sees the photos of a series that are not close in time to a secret,
// and sees none before it is known what was said around all of them.
func TestPhotoSeriesWithARemoteModel(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(sees))
	t.Setenv("HTTP_PROXY", strings.TrimSuffix(s.URL, "/v1")) // this is how it is reached
	t.Setenv("NO_PROXY", "")
	n := running(t, nil)
	hear(t, n, evening, "Ana", "The wifi password is tulip-42-harbor.")
	for i := range 5 {
		photoComes(t, n, evening.Add(time.Duration(i)*8*time.Second), fields(t, i)) // for two of them, the line is less than ten seconds away
	}
	addSight(t, n, s, serve.AddEngineRequest{Address: "http://sight.example:80/v1", Consent: true})
	eventually(t, "what may go", func() bool { e := engineOfKind(t, n, "eyes"); return e.Done == 3 && e.Held == 2 && e.Waiting == 0 })
	if made, unseen := seenBy(t, n); len(made) != 1 || len(made[0].Links) != 3 || unseen != 2 {
		t.Errorf("%d without, %+v", unseen, made)
	}
	if got := s.Requests(); len(got) != 2 || got[1].Pictures != 3 {
		t.Errorf("%d requests", len(got))
	}
}

// Each photo is in one memory, whenever the daemon or its engine is killed: before the model
// answers, while it does, and after.
func TestPhotoSeriesSurvivesKills(t *testing.T) {
	t.Parallel()
	const photos = 43 // three series
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(sees))
	h := hearing{filepath.Join(t.TempDir(), "home"), compiled}
	if _, err := Init(h.config(), InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	n, err := h.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range photos {
		photoComes(t, n, evening.Add(time.Duration(i)*time.Second), fields(t, i))
	}
	addSight(t, n, s, serve.AddEngineRequest{})
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	came, answers := make(chan struct{}, 1), make(chan struct{})
	for round := range 4 {
		s.Script(llmtest.Holds(came, answers, llmtest.Func(sees)))
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
		cmd.Env = append(os.Environ(), hearingEnv+"="+string(b))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-came:
		case <-time.After(10 * time.Minute):
			t.Errorf("round %d: the model was not asked", round)
		}
		if round%2 == 1 { // it answers while the daemon is killed
			answers <- struct{}{}
		}
		if round == 2 { // the engine's process first
			for _, pid := range childrenOf(t, cmd.Process.Pid) {
				if child, err := os.FindProcess(pid); err == nil {
					_ = child.Kill() // it may have ended
				}
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		s.Drop()
	}
	if n, err = h.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all photos", func() bool { return engineOfKind(t, n, "eyes").Waiting == 0 })
	made, unseen := seenBy(t, n)
	if len(made) != 3 || unseen != 0 {
		t.Errorf("%d without, %d memories", unseen, len(made))
	}
	t.Logf("asked %d times for 3 series", len(s.Requests())-1)
}

// The text of photos that show the same page is kept once, with each photo as evidence.
func TestSameTextInPhotosIsStoredOnce(t *testing.T) {
	n := newNode(t, nil)
	for i := range 3 {
		photoComes(t, n, evening.Add(time.Duration(i)*2*time.Minute), fields(t, i))
	}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var ids []memory.ID
	err = n.view(t.Context(), func(_ *session, tx *store.Tx) (err error) {
		ids, err = engines.Waiting(tx, result.Read)
		return err
	})
	if err != nil || len(ids) != 3 {
		t.Fatal(ids, err)
	}
	for i, id := range ids {
		if err := o.engines.StoreAnswer(t.Context(), &result.Answer{Kind: result.Read, Engine: "tesseract", Text: "BOOK SWAP\nSaturday", Confidence: 0.9}, id); err != nil {
			t.Fatal(i, err)
		}
	}
	err = n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		ids, err = engines.Waiting(tx, result.Read)
		prints := 0
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
			if err != nil {
				return err
			}
			if m.Fields.Resource.Content != "" {
				if prints++; len(m.Evidence) != 3 || m.Heard != 3 {
					t.Errorf("%+v", m)
				}
			}
		}
		if prints != 1 || len(ids) != 0 {
			t.Errorf("%d prints, %d wait", prints, len(ids))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
