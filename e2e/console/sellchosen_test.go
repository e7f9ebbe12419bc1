package console

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// A bundle is chosen by tags alone, all of which a memory must have, and up to and including a
// day.
func TestSellByTags(t *testing.T) {
	market := startMarket(t, marketHow{})
	shop, seller := ownHome(t)
	infer := false
	for text, tags := range map[string][]string{
		"Quinces want a warm wall.":              {"fruit", "wall"},
		"Medlars are eaten when they are brown.": {"fruit"},
		"The ladder stands behind the house.":    {"wall"},
	} {
		if _, err := seller.Add(t.Context(), serve.AddRequest{Text: text, Infer: &infer, Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	b := openAt(t, plain, linkOf(t, shop).URL)
	until := func(daysAgo int) {
		b.do(chromedp.Evaluate(fmt.Sprintf(`{
			const day = new Date(); day.setDate(day.getDate() - %d);
			const field = document.querySelector(".sharer [name=until]");
			field.value = [day.getFullYear(), String(day.getMonth() + 1).padStart(2, "0"), String(day.getDate()).padStart(2, "0")].join("-");
			field.dispatchEvent(new Event("input", {bubbles: true}));
		}`, daysAgo), nil))
	}
	next := func(seen string) {
		t.Helper()
		b.do(chromedp.Click(".sharer form .solid"), chromedp.WaitVisible(seen))
	}
	b.palette("sell something")
	b.do(chromedp.WaitVisible(".sharer [name=tags]"))
	if !js[bool](b, `document.querySelector(".sharer form .solid").disabled`) {
		t.Error("the form can be sent although nothing is chosen")
	}
	b.do(chromedp.SendKeys(".sharer [name=tags]", "fruit, wall"))
	until(0)
	b.accessible("sell-tags")
	b.shoot("sell-tags")
	b.do(chromedp.Focus(".sharer [name=tags]"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=price]"),
		chromedp.SendKeys("[name=title]", "Quinces"), chromedp.SendKeys("[name=categories]", "garden"), chromedp.SendKeys("[name=price]", "0.20 EUR"),
		chromedp.WaitVisible("[name=market]"), chromedp.SendKeys("[name=market]", market.url)) // shown at once, because the home has no relay
	next("[name=times]")
	next(".two-views tbody tr")
	if rows := js[int](b, `document.querySelectorAll(".two-views tbody tr").length`); rows != 1 {
		t.Errorf("%d memories are shown, want the one with both tags", rows)
	}
	b.says("Quinces want a warm wall.")
	b.do(chromedp.Click(".sharer > footer .solid"), chromedp.WaitVisible(".market .rows li"))
	if list, err := seller.Listings(t.Context()); err != nil || len(list) != 1 || list[0].Items != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
