package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	projection "github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
)

// The share suite is a red team. It makes up a town, with public facts about each of its people,
// and what a wearer remembers about some of them. It shares these memories with one redaction after
// the other, and then tries to name who is meant in each memory, from only what the reader gets and
// the public facts. The result is how often it is right.

func runShare(ctx context.Context, f *frame) error {
	people := f.Int("people", 2000, "who live in the town")
	known := f.Int("known", 100, "of them that the wearer knows")
	if !f.parsed() || f.NArg() > 0 || *known < 1 || *people < *known || *people > 100_000 {
		return f.usage("--people takes up to 100000, and --known as many or fewer")
	}
	return f.print(redTeam(ctx, *people, *known))
}

// redactions are tried in this order. The first is the baseline.
var redactions = []string{"", "names", "names=pseudonyms", "names,places", "names,places=Marren", "names,places,times=month", "names,places,times,numbers",
	"names=pseudonyms,places,times,numbers", "names,places,times,numbers,at least 3"}

func redTeam(ctx context.Context, people, known int) ([]result, error) {
	town := newTown(people)
	memories, of := town.memories(known)
	var out []result
	for _, how := range redactions {
		copies, err := reader(ctx, memories, how)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", how, err)
		}
		hits := 0.0
		for i, guess := range town.attack(copies) {
			hits += guess[of[copies[i].Of]]
		}
		r := result{Suite: "share", Case: "reidentified " + cmp.Or(how, "unredacted"), N: len(copies), Value: round(100 * hits / float64(max(len(copies), 1))), Unit: "%",
			Note: fmt.Sprintf("%d of %d memories of people are shared", len(copies), len(of))}
		if len(out) > 0 {
			r = r.beside("unredacted", out[0].Value, false)
		}
		out = append(out, r)
	}
	return out, nil
}

// townsman is a person with public facts.
type townsman struct {
	name  string
	facts []string
}

type town struct {
	people []townsman
	shared map[string]int // for each fact, for how many people it is true
	rand   *rand.Rand
}

// What the town has. Streets, cafés and employers are places in the wearer's memories.
var (
	firsts   = strings.Fields("Ada Bela Cora Dario Edda Franz Greta Hanno Ilka Jonas Kira Lukas Mira Nils Oda Pavel Rika Selma Timo Ulla Vera Wim Yara Zeno Agnes Bruno Clara Dora Emil Frida Gustav Heidi")
	seconds  = strings.Fields("Albrecht Bauer Cerny Dietz Ebert Falk Grün Hartl Ivers Jahn Keller Lorenz Maurer Novak Ostrow Pohl Quast Reimer Sauer Thoma Uhl Vogt Weiss Zander Arendt Behr Claus Drews Engel Fuchs Gerke Holm Imhof Jost Kuhn Lang Merz Nagel Otto Prinz")
	streets  = strings.Fields("Lindengasse Mühlweg Hafenstrasse Birkenhof Kirchberg Steinweg Rosenau Talgasse Uferweg Marktplatz Eichgrund Sonnhalde Amselweg Brückentor Feldrain Gartenzeile")
	cafes    = strings.Fields("Café-Mono Teehaus-Blau Bäckerei-Kern Gasthof-Linde Bar-Orsini Kantine-Sieben Mokkastube Weinkeller")
	firms    = strings.Fields("Optik-Arens Stadtwerke Druckerei-Falter Klinik-Süd Sägewerk-Horn Sparkasse Brauerei-Löwe Schule-am-Wall Gärtnerei-Immergrün Werft-Nord Apotheke-Stern Bibliothek")
	trades   = strings.Fields("optician teacher nurse printer sailor brewer gardener librarian carpenter accountant cook plumber baker pharmacist driver engineer")
	hobbies  = strings.Fields("chess rowing pottery beekeeping fencing choir archery knitting astronomy climbing origami curling")
	animals  = strings.Fields("cat dog parrot tortoise rabbit hamster")
	vehicles = strings.Fields("tractor van motorbike caravan cabriolet estate")
	townName = "Marren"
)

func newTown(people int) *town {
	t := &town{shared: map[string]int{}, rand: rand.New(rand.NewPCG(24, 3))}
	pick := func(list []string) string { return list[t.rand.IntN(len(list))] }
	for i := range people {
		n := i % (len(firsts) * len(seconds))
		name := firsts[n%len(firsts)] + " " + seconds[(n/len(firsts)+n)%len(seconds)]
		if i >= len(firsts)*len(seconds) {
			name += fmt.Sprintf("-%s", seconds[i%len(seconds)])
		}
		r := townsman{name, []string{name, pick(streets), pick(trades), pick(firms), pick(hobbies), pick(cafes), pick(animals), pick(vehicles),
			fmt.Sprintf("%d children", 1+t.rand.IntN(5)), fmt.Sprintf("%d", 1950+t.rand.IntN(75)), time.Date(2000, 1, 1+t.rand.IntN(365), 0, 0, 0, 0, time.UTC).Format("2 January"), firsts[n%len(firsts)]}}
		for _, f := range r.facts {
			t.shared[f]++
		}
		t.people = append(t.people, r)
	}
	return t
}

// memories returns what the wearer remembers about the first people, and whom each memory is about.
func (t *town) memories(known int) (all []memory.Memory, of map[memory.ID]int) {
	of = map[memory.ID]int{}
	add := func(who int, text string, places ...string) {
		m := memory.Memory{State: memory.Active, ID: memory.ID{byte(len(all) >> 16), byte(len(all) >> 8), byte(len(all)), 1}, Candidate: memory.Candidate{Type: memory.Semantic, Text: text, Tags: []string{"people"},
			Confidence: 1, Sensitivity: memory.Personal, Entities: []memory.Entity{{Name: t.people[who].name, Kind: "person"}}, Fields: memory.Fields{Semantic: &memory.SemanticFields{Name: "people", Details: text}}}}
		for _, p := range places {
			m.Entities = append(m.Entities, memory.Entity{Name: p, Kind: "place"})
		}
		of[m.ID] = who
		all = append(all, m)
	}
	for i := range known {
		f := t.people[i].facts
		name := f[0]
		first, _, _ := strings.Cut(name, " ")
		add(i, name+" works as "+f[2]+" at "+f[3], f[3])
		add(i, name+" lives in "+f[1]+" with "+f[8], f[1])
		add(i, "The birthday of "+name+" is on "+f[10])
		add(i, "I met "+name+" and the "+f[6]+" at "+f[5], f[5])
		add(i, name+" loves "+f[4]+" and drives a "+f[7])
		add(i, name+" moved here in "+f[9])
		add(i, first+" talked about "+f[4]+" again")
	}
	// Where the streets and houses are.
	for i, p := range slices.Concat(streets, cafes, firms) {
		m := memory.Memory{State: memory.Active, ID: memory.ID{0xff, byte(i), 1}, Candidate: memory.Candidate{Type: memory.Semantic, Text: p + " is in " + townName, Tags: []string{"places"}, Confidence: 1, Sensitivity: memory.Personal,
			Slot: &memory.Slot{Subject: p, Attribute: "located", Value: townName}}}
		all = append(all, m)
	}
	return all, of
}

// attack returns, for each copy, the probability with which the attacker names each person: nobody
// if nothing is known, one person, or one of several at random.
func (t *town) attack(copies []projection.Copy) []map[int]float64 {
	rounder := projection.NewRedactor(projection.Redaction{Numbers: true}, projection.Vocabulary{}, nil)
	forms := map[string][]string{} // the forms of each fact that a copy may contain: unchanged, and with rounded numbers
	for f := range t.shared {
		for _, form := range []string{f, rounder.Text(f)} {
			forms[f] = append(forms[f], " "+strings.Join(nonWords.Split(form, -1), " ")+" ")
		}
	}
	texts, pools := make([]string, len(copies)), map[string][]int{}
	for i, c := range copies {
		raw, err := json.Marshal(c.Candidate)
		if err != nil {
			panic(err) // it came from JSON
		}
		texts[i] = " " + strings.Join(nonWords.Split(string(raw), -1), " ") + " "
		pool := fmt.Sprint("memory ", i)
		if p := pseudonym.FindString(c.Candidate.Text); p != "" {
			pool = p
		}
		pools[pool] = append(pools[pool], i)
	}
	out := make([]map[int]float64, len(copies))
	for _, members := range pools {
		said := map[string]bool{} // facts that one of them contains
		for f := range t.shared {
			for _, form := range forms[f] {
				said[f] = said[f] || slices.ContainsFunc(members, func(i int) bool { return strings.Contains(texts[i], form) })
			}
		}
		best, who := 0.0, map[int]float64{}
		for n, r := range t.people {
			score := 0.0
			for _, f := range r.facts {
				if said[f] {
					score += math.Log(float64(len(t.people)+1) / float64(t.shared[f]))
				}
			}
			if score > best+1e-9 {
				best, who = score, map[int]float64{}
			}
			if score > 0 && score > best-1e-9 {
				who[n] = 1
			}
		}
		for n := range who {
			who[n] = 1 / float64(len(who))
		}
		for _, i := range members {
			out[i] = who
		}
	}
	return out
}

var (
	nonWords  = regexp.MustCompile(`[^\p{L}\p{Nd}]+`)
	pseudonym = regexp.MustCompile(`\[[A-Z][a-z]{7}\]`)
)

// wearer is the owner's side of a share, in memory.
type wearer []memory.Memory

// Choose implements share.Source.
func (w wearer) Choose(context.Context, projection.Criteria) ([]memory.Memory, error) { return w, nil }

// Vocabulary implements share.Source.
func (w wearer) Vocabulary(context.Context) (v projection.Vocabulary, err error) {
	for i := range w {
		v.Add(&w[i])
	}
	return v, nil
}

// Records and Keep implement share.Catalog.
func (w wearer) Records(context.Context) ([]projection.Record, error) { return nil, nil }
func (w wearer) Keep(context.Context, []projection.Record) error      { return nil }

// reader returns what a reader would get.
func reader(ctx context.Context, all []memory.Memory, how string) ([]projection.Copy, error) {
	list, least, _ := strings.Cut(how, ",at least ")
	redact, err := projection.ParseRedaction(strings.Split(list, ","))
	if err != nil {
		return nil, err
	}
	if least != "" {
		redact.AtLeast = int(least[0] - '0')
	}
	d := keyring.NewDevice()
	defer d.Zero()
	m := membership.MemberOf(d, envelope.Reader)
	key, err := envelope.SignRequest(envelope.Request{Key: m.Key, Recipient: m.Recipient}, d.Sign)
	if err != nil {
		return nil, err
	}
	s := projection.New(projection.Config{Key: seal.NewKey(), Source: wearer(all), Catalog: wearer(nil)})
	p, err := s.Preview(ctx, projection.ShareSpec{Criteria: projection.Criteria{Tags: []string{"people"}, Most: memory.Personal}, Redact: redact, To: []string{key}})
	return p.Copies, err
}
