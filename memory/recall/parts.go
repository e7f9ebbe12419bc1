package recall

// The parts that a score can have. A hit has those that contributed.
const (
	PartMatch     = "bm25_match"
	PartSpeaker   = "speaker_match"
	PartString    = "string_match"
	PartLexicon   = "lexicon_match"
	PartTime      = "time_match"
	PartEntity    = "entity_match"
	PartGraph     = "graph_match"
	PartContext   = "context_match"
	PartEmbedding = "embedding_match"
	PartRerank    = "rerank_match"
	PartQuestion  = "question"
	PartWhen      = "when"
	PartWhere     = "where"
	PartNumber    = "number"
	PartLength    = "length"
	PartPinned    = "pinned"
	PartDerived   = "derived"

	// These are set by the code that shows the hits, and not by a search of the index.
	PartReplaces = "replaces"
	PartPast     = "past"
	PartShared   = "shared"
)

// AboutPart describes a part.
type AboutPart struct{ Name, About string }

// Parts lists them, in the order in which they are explained.
func Parts() []AboutPart {
	return []AboutPart{
		{PartMatch, "the question's words, here and in what was said around it"},
		{PartSpeaker, "the question names who said this"},
		{PartString, "spelt like the question's words; or the very code or quotation"},
		{PartLexicon, "words of the matter that is asked after"},
		{PartTime, "of a time that the question names"},
		{PartEntity, "a whole name that the question holds"},
		{PartGraph, "a name that hangs together with those in the question"},
		{PartContext, "answers somebody's question that holds the words"},
		{PartEmbedding, "near in meaning, says the embedding model"},
		{PartRerank, "answers well, says the reranker"},
		{PartWhen, "names a time, and the question asks when"},
		{PartWhere, "says where something is, and the question asks where"},
		{PartNumber, "has a number, and the question asks for one"},
		{PartLength, "longer lines tell more"},
		{PartPinned, "you pinned it"},
		{PartQuestion, "asks, and so does not answer"},
		{PartDerived, "taken from a line that is here itself"},
		{PartReplaces, "took the place of something that fits better"},
		{PartPast, "no longer so"},
		{PartShared, "somebody else shares it with you"},
	}
}
