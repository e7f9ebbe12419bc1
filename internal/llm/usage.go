package llm

// Usage counts tokens: as the server reports them, if that is plausible, and
// otherwise by the bytes that were sent and received.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	// Estimated is how many answers had no plausible count.
	Estimated int `json:"estimated,omitempty"`
}

func (u *Usage) add(o Usage) {
	u.Prompt, u.Completion, u.Estimated = u.Prompt+o.Prompt, u.Completion+o.Completion, u.Estimated+o.Estimated
}

// Limits for plausible counts. A token has at least one byte, and rarely more
// than 16. Servers add a few hundred tokens to the messages of a chat. Budgets
// depend on these counts, so a server that reports none, or millions, must
// neither be free nor use up a budget.
const (
	bytesPerToken = 3 // for an estimate: English has 4, Chinese 1.5 to 3
	mostPerToken  = 16
	aroundChat    = 1000
	// For a picture: OpenAI's models take from 85 to some 40,000, Qwen's and LLaVA's 250 to 3,000.
	perPicture     = 1000
	mostPerPicture = 50_000
)

// believed compares a server's count with the bytes and pictures that were sent
// and received, and with the greatest number of tokens that was requested.
func believed(u Usage, sent, pictures, answered, most int) Usage {
	if u.Prompt < sent/mostPerToken || u.Prompt > sent+aroundChat+pictures*mostPerPicture || u.Prompt == 0 && sent > 0 {
		u.Prompt, u.Estimated = (sent+bytesPerToken-1)/bytesPerToken+pictures*perPicture, 1
	}
	// A model that thinks uses more tokens than it returns.
	if u.Completion < answered/mostPerToken || u.Completion > max(most, answered)+aroundChat || u.Completion == 0 && answered > 0 {
		u.Completion, u.Estimated = (answered+bytesPerToken-1)/bytesPerToken, 1
	}
	return u
}
