package recall

// Weights say what each signal is worth. A signal is divided by its greatest
// value for the question and then multiplied by its weight. A weight of 1 is as
// much as the plain match of words can contribute. Zero switches a signal off.
// How they were chosen, and what each is worth, is in docs/recall.md.
type Weights struct {
	Session   float64    // best match of a turn in its session
	Heard     float64    // share of the question's words that its session has
	Covered   float64    // share of the question's words that the turn and its context have
	Several   float64    // share of the match that is subtracted if several things are asked for
	Speaker   float64    // share of the match that is added if the question names the speaker
	Theirs    float64    // the same for the lexicon's part
	Question  float64    // subtracted from a turn that asks
	Answer    float64    // match of the question that a turn answers
	String    float64    // words spelt alike
	Exact     float64    // codes, and phrases in quotation marks
	Lexicon   float64    // words of one everyday topic, in context
	Near      float64    // the same, in the turn itself
	Time      float64    // times that the question names
	Handle    float64    // added to Time if the question asks for nothing but a time
	When      float64    // the turn names a time, and the question asks when
	Where     float64    // the turn says where something is, and the question asks where
	Number    float64    // the turn has a number, and the question asks for one
	Entity    float64    // names that are in the question
	Graph     float64    // names that are related to those
	Led       float64    // added to Graph if relations that the question names lead to somebody
	Length    float64    // long turns say more
	Pinned    float64    // memories that the wearer pinned
	Lent      float64    // factor for words that a conversation lent to the question
	LentName  float64    // the same for names
	Derived   float64    // subtracted from a memory, as far as its utterance matches too
	Embedding float64    // nearness in meaning, if a query has a Dense
	Rerank    float64    // judgement of a Reranker, if a query has one
	Context   [4]float64 // share of the turns at −2, −1, +1, +2
	K1, B     float64    // parameters of BM25
	// Without are lines of the lexicon, numbered as in [LexiconHeadwords], that are left out, to measure
	// what each contributes.
	Without map[int]bool
}

// DefaultWeights returns the weights for a query without weights of its own.
func DefaultWeights() Weights {
	return Weights{
		Session: .15, Heard: .2, Covered: .2, Several: .9,
		Speaker: .4, Theirs: 1, Question: .3, Answer: .2, String: .15, Exact: 2, Lexicon: .12, Near: .3,
		Time: 1.1, Handle: 1.4, When: .55, Where: .2, Number: .4, Entity: .2, Graph: .1, Led: .6, Length: .3, Pinned: .1, Lent: .2, LentName: .5, Derived: .03,
		Embedding: .6, Rerank: .75,
		Context: [4]float64{.3, .6, .4, .2}, K1: 1.2, B: .75,
	}
}

// timeWeight is the weight of matching times for this question.
func (r *ranking) timeWeight() float64 {
	if r.ask.dated {
		return r.w.Time + r.w.Handle
	}
	return r.w.Time
}

// graphWeight is the weight of related names for this question.
func (r *ranking) graphWeight() float64 {
	if r.ask.led {
		return r.w.Graph + r.w.Led
	}
	return r.w.Graph
}

// most returns the greatest score that a document could have with these
// weights.
func (r *ranking) most() float64 {
	w := r.w
	matter := w.Lexicon + w.Near
	model := 0.0
	if r.embeds != nil {
		model = w.Embedding * r.trust
	}
	exact := 0.0
	if r.ask.coded {
		exact += w.Exact
	}
	if len(r.ask.quotes) > 0 {
		exact += w.Exact
	}
	if r.ask.amount {
		exact += w.Number
	}
	return model + exact + 1 + w.Session + w.Heard + w.Covered + w.Speaker + (1+w.Theirs)*matter + w.String + r.timeWeight() + w.Entity + r.graphWeight() + w.Answer + w.When + w.Where + w.Length + w.Pinned
}
