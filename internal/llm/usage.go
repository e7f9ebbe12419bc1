package llm

// Usage counts tokens: as the server reports them where that can be so, and
// else by the bytes that were sent and answered.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	// Estimated is how many answers had a count that can't be so, or none.
	Estimated int `json:"estimated,omitempty"`
}

func (u *Usage) add(o Usage) {
	u.Prompt, u.Completion, u.Estimated = u.Prompt+o.Prompt, u.Completion+o.Completion, u.Estimated+o.Estimated
}

// Of counts that are believed. A token is a byte at least, and seldom more than
// 16 of them; what servers put around the messages of a chat is some hundred
// tokens. A budget rests on these counts, and a server that reports none, or
// millions, is not to empty it nor to get round it.
const (
	bytesPerToken = 3 // of an estimate: English has 4, Chinese 1.5 to 3
	mostPerToken  = 16
	aroundChat    = 1000
	// Of a picture: OpenAI's models take from 85 to some 40,000, Qwen's and
	// LLaVA's 250 to 3,000.
	perPicture     = 1000
	mostPerPicture = 50_000
)

// believed holds what a server reports to what was sent and answered, in bytes
// and pictures, and to the most tokens that were asked for.
func believed(u Usage, sent, pictures, answered, most int) Usage {
	if u.Prompt < sent/mostPerToken || u.Prompt > sent+aroundChat+pictures*mostPerPicture || u.Prompt == 0 && sent > 0 {
		u.Prompt, u.Estimated = (sent+bytesPerToken-1)/bytesPerToken+pictures*perPicture, 1
	}
	// A model that thinks says less than it takes.
	if u.Completion < answered/mostPerToken || u.Completion > max(most, answered)+aroundChat || u.Completion == 0 && answered > 0 {
		u.Completion, u.Estimated = (answered+bytesPerToken-1)/bytesPerToken, 1
	}
	return u
}
