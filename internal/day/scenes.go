package day

import (
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// role returns the name of the person with a role.
func (m *maker) role(r string) string {
	name, ok := m.vars["{"+r+"}"]
	if !ok {
		return r
	}
	return name
}

// scenes goes through the day from morning to night.
func (m *maker) scenes() {
	c := m.cast
	visit := visits[m.rng.IntN(len(visits))]
	m.vars["{visit}"], m.vars["{practice}"] = visit.who, visit.practice

	m.until(6, 50)
	m.place("Home")
	m.sensor(glasses, "battery", 88+m.rng.IntN(12), "%")
	m.sensor(pin, "heart_rate", 55+m.rng.IntN(12), "bpm")
	m.refuse(m.say(c.partner, m.one(greetings)), "greeting")
	was := 0
	m.shuffled(homeFacts, c.wearer, c.partner, map[int]func(){
		m.rng.IntN(3):     func() { was = m.say(c.wearer, m.one(visitOld)) },
		3 + m.rng.IntN(2): func() { m.tellSecret(c.partner, homeSecrets[m.rng.IntN(len(homeSecrets))]) },
	})

	m.until(8, 0)
	m.place(c.street)
	m.button("single")
	home := m.homeBefore()

	m.until(8, 50)
	m.place("Office")
	m.refuse(m.say(c.ben, m.one(greetings)), "greeting")
	m.refuse(m.say(c.wearer, m.one(greetings)), "greeting")
	m.shuffled(workFacts, c.anna, c.ben, map[int]func(){
		2: func() { m.tellSecret(c.anna, officeSecrets[m.rng.IntN(len(officeSecrets))]) },
		4: m.tellHowto,
		6: m.photos,
	})

	m.until(12, 10)
	m.place("Noodle shop")
	m.refuse(m.say(c.keeper, m.one(hanGreetings)), "greeting")
	m.shuffled(lunchFacts, c.wearer, c.keeper, nil)

	m.until(13, 30)
	is := m.phoneCall(visit)

	m.until(14, 20)
	m.gap()
	m.facts(outFacts[:1], c.wearer, c.wearer)

	m.until(15, 30)
	m.place("Café")
	m.refuse(m.say(c.friend, m.one(hanGreetings)), "greeting")
	m.refuse(m.say(c.wearer, m.one(hanGreetings)), "greeting")
	var now []int
	m.shuffled(friendFacts, c.friend, c.wearer, map[int]func(){
		1: func() { now = append(now, m.homeAfter()) },
		3: func() { m.tellSecret(c.friend, hanSecrets[m.rng.IntN(len(hanSecrets))]) },
	})

	m.until(17, 10)
	m.place("Bookshop")
	m.refuse(m.say(c.bookseller, m.one(greetings)), "greeting")
	m.photo("note.png")
	m.facts(outFacts[1:], c.bookseller, c.wearer)
	m.refuse(m.say(c.wearer, m.fresh(commands)), "command")

	m.until(18, 40)
	m.place("New flat")
	m.shuffled(eveningFacts, c.partner, c.wearer, map[int]func(){
		0: func() { m.tellSplit(c.partner, c.wearer) },
		1: func() {
			m.refuse(m.say(c.partner, m.one(visitAsked)), "question")
			is = append(is, m.say(c.wearer, m.one(visitTold)))
		},
		2: func() { m.tellFirm(home.firm) },
	})
	m.until(20, 30)
	m.recording()
	m.sensor(glasses, "battery", 15+m.rng.IntN(20), "%")
	m.refuse(m.say(c.partner, m.one(farewells)), "greeting")
	m.refuse(m.say(c.wearer, m.one(farewells)), "greeting")

	m.change("when is the {visit}", m.forms["{newclock}"], m.forms["{oldclock}"], is, []int{was}, true)
	homes := [2][]string{{c.newHome.name, c.newHome.han}, {c.oldHome.name, c.oldHome.han}}
	question := "Where do I live now?"
	if l, _ := m.day.Line(now[0]); l.Lang == "zh" {
		question = "我现在住在哪里?"
	}
	m.change(question, homes[0], homes[1], now, []int{home.line}, false)
	m.day.Expect.Types = map[string]int{
		"episodic": 6, "semantic": 8, "procedural": 1, "resource": 3, "vault": len(m.day.Expect.Secrets),
	}
}

// facts has some facts said, in order, each with a question about it.
func (m *maker) facts(fs []fact, a, b string) {
	for _, f := range fs {
		m.tell(f)
		m.idle(a, b)
	}
}

// shuffled has facts said in a random order, and calls the functions of between before those at the
// given indexes.
func (m *maker) shuffled(fs []fact, a, b string, between map[int]func()) {
	for i, p := range m.rng.Perm(len(fs)) {
		if do := between[i]; do != nil {
			do()
			m.idle(a, b)
		}
		m.tell(fs[p])
		m.idle(a, b)
	}
}

// tell has one fact said.
func (m *maker) tell(f fact) {
	for _, p := range f.draw {
		v, second, _ := strings.Cut(m.one(p.values), "|")
		m.vars["{"+p.name+"}"] = v
		m.vars["{"+p.name+"2}"] = m.fill(second)
	}
	who, to := m.role(f.who), m.role(f.to)
	if len(f.lead) > 0 && m.rng.IntN(3) > 0 {
		m.refuse(m.say(to, m.one(f.lead)), "question")
	}
	n := m.say(who, m.one(f.say))
	if who != to && m.rng.IntN(2) == 0 {
		m.filler(to, langOf(m.day.Lines[n-2].Text))
	}
	m.ask(f.ask, f.answer, n)
}

func (m *maker) filler(who, lang string) {
	from := fillers
	if lang == "zh" {
		from = hanFillers
	}
	m.refuse(m.say(who, m.fresh(from)), "filler")
}

// idle sometimes makes two people say something unimportant.
func (m *maker) idle(a, b string) {
	han := a == m.cast.friend || b == m.cast.friend || b == m.cast.keeper
	if m.rng.IntN(2) == 0 {
		a, b = b, a
	}
	switch draw := m.rng.IntN(10); {
	case a == b:
	case draw < 3 && han:
		m.chat(a, b, hanSmallTalk)
	case draw < 3:
		m.chat(a, b, smallTalk)
	case draw < 5:
		questions, lang := idleQuestions, "en"
		if han {
			questions, lang = hanQuestions, "zh"
		}
		m.refuse(m.say(a, m.fresh(questions)), "question")
		m.filler(b, lang)
	case draw < 6:
		m.refuse(m.say(m.cast.wearer, m.fresh(commands)), "command")
	}
	m.wait(time.Duration(20+m.rng.IntN(120)) * time.Second)
}

// chat makes two people exchange something that was not said before on this day.
func (m *maker) chat(a, b string, talk [][2]string) {
	var left [][2]string
	for _, t := range talk {
		if !m.said[t[0]] {
			left = append(left, t)
		}
	}
	if len(left) == 0 {
		return
	}
	t := left[m.rng.IntN(len(left))]
	m.said[t[0]] = true
	m.say(a, t[0])
	m.say(b, t[1])
}

// before is what the wearer says about themselves in the morning.
type before struct {
	line int // number of the line with the old home
	firm int // number of the line with the employer
}

// homeBefore is a ride with a driver who asks about the home.
func (m *maker) homeBefore() before {
	c, b := m.cast, before{}
	if m.rng.IntN(2) == 0 {
		m.refuse(m.say(c.driver, m.one(rideGreetings)), "greeting")
		m.refuse(m.say(c.driver, m.one(homeAskedHan)), "question")
		b.line = m.say(c.wearer, m.one(homeOldHan))
		m.filler(c.driver, "zh")
	} else {
		m.refuse(m.say(c.neighbour, m.one(greetings)), "greeting")
		m.refuse(m.say(c.neighbour, m.one(homeAsked)), "question")
		b.line = m.say(c.wearer, m.one(homeOld))
		m.filler(c.neighbour, "en")
	}
	if m.rng.IntN(2) == 0 {
		m.refuse(m.say(c.neighbour, m.one(firmAsked)), "question")
		b.firm = m.say(c.wearer, m.one(firmOld))
	}
	return b
}

// homeAfter is where the wearer lives from today on.
func (m *maker) homeAfter() int {
	if m.rng.IntN(2) == 0 {
		return m.say(m.cast.wearer, m.one(homeNewHan))
	}
	return m.say(m.cast.wearer, m.one(homeNew))
}

// tellFirm names the new employer; the line was names the old one.
func (m *maker) tellFirm(was int) {
	if was == 0 {
		return
	}
	n := m.say(m.cast.wearer, m.one(firmNew))
	m.change("Who do I work for?", []string{m.cast.newFirm}, []string{m.cast.oldFirm}, []int{n}, []int{was}, false)
}

// change expects that a later value replaces an earlier one.
func (m *maker) change(question string, current, former []string, lines, formerLines []int, visit bool) {
	q := Question{
		Question: m.fill(question), Lang: langOf(question), Lines: lines, Answer: current,
		Current: current, Former: former, FormerLines: formerLines,
	}
	if visit {
		q.CurrentAt, _ = time.Parse(time.RFC3339, m.vars["{visitisat}"])
		q.FormerAt, _ = time.Parse(time.RFC3339, m.vars["{visitwasat}"])
	}
	m.day.Expect.Questions = append(m.day.Expect.Questions, q)
}

// phoneCall moves the appointment, and returns the lines with the new time.
func (m *maker) phoneCall(v visit) []int {
	c := m.cast
	m.say(c.receptionist, "Hello, this is {receptionist} from {doctor}'s {practice}.")
	m.refuse(m.say(c.wearer, m.one(phoneGreetings)), "greeting")
	m.say(c.receptionist, m.one(visitOffer))
	m.filler(c.wearer, "en")
	m.refuse(m.say(c.receptionist, m.one(visitPropose)), "question")
	lines := []int{m.say(c.wearer, m.one(visitNew)), m.say(c.receptionist, m.one(visitConfirm))}
	m.vars["{drug}"], m.vars["{card}"] = m.one(drugs), m.one(cards)
	m.refuse(m.say(c.receptionist, m.one(allergyAsked)), "question")
	n := m.say(c.wearer, m.one(allergySaid))
	m.ask("What am I allergic to?", []string{"{drug}"}, n)
	n = m.say(c.receptionist, m.one(bringSaid))
	m.ask("What should I bring to the "+v.who+"?", []string{"{card}"}, n)
	m.refuse(m.say(c.wearer, "Okay, bye!"), "filler")
	return lines
}

// tellHowto makes a colleague explain something.
func (m *maker) tellHowto() {
	h := howtos[m.rng.IntN(len(howtos))]
	m.vars["{do}"] = h.ask
	m.refuse(m.say(m.cast.wearer, m.one(howtoAsked)), "question")
	n := m.say(m.cast.ben, h.tell(manners[m.rng.IntN(len(manners))]))
	m.filler(m.cast.wearer, "en")
	m.ask("How do I {do}?", nil, n)
	m.day.Expect.Procedures = append(m.day.Expect.Procedures, Procedure{About: h.about, Lines: []int{n}, Steps: len(h.steps)})
}

func (m *maker) place(name string) {
	c := m.cast.newHome
	// Within about three kilometres of the centre; five decimals are a metre.
	near := func(v float64) float64 { return float64(int(v*1e5)+m.rng.IntN(6000)-3000) / 1e5 }
	m.put(Line{Kind: memory.KindLocation, Device: pin, Name: name, Lat: near(c.lat), Lon: near(c.lon), Accuracy: float64(5 + m.rng.IntN(30))})
	m.wait(2 * time.Second)
}

func (m *maker) sensor(device, name string, value int, unit string) {
	m.put(Line{Kind: memory.KindSensor, Device: device, Name: name, Values: []float64{float64(value)}, Unit: unit})
}

func (m *maker) button(name string) {
	m.put(Line{Kind: memory.KindButton, Device: glasses, Name: name, Values: []float64{1}})
	m.wait(time.Second)
}

func (m *maker) photo(file string) {
	m.button("single")
	m.put(Line{Kind: memory.KindPhoto, Device: glasses, File: file})
	m.wait(4 * time.Second)
}

// photos takes photos of the two views, the first one twice.
func (m *maker) photos() {
	m.photo("view-1.jpg")
	m.photo("view-2.jpg")
	m.wait(time.Minute)
	m.photo("other.jpg")
}

func (m *maker) gap() {
	missing := uint64(1 + m.rng.IntN(20))
	n := m.put(Line{Kind: memory.KindGap, Device: glasses, Missing: missing, Reason: m.one([]string{"out of range", "buffer full", "link lost", "battery swapped"})})
	m.day.Expect.Gaps = []Gap{{Line: n, Device: glasses, Missing: missing}}
	m.wait(5 * time.Second)
}

// recording is eleven seconds of an old speech.
func (m *maker) recording() {
	m.refuse(m.say(m.cast.partner, m.one([]string{"Listen to this.", "Wait, listen.", "Shh, listen."})), "command")
	m.put(Line{Kind: memory.KindAudio, Device: glasses, File: "speech.opus"})
	m.wait(14 * time.Second)
	m.filler(m.cast.wearer, "en")
}
