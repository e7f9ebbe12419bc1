package retrieve

import "testing"

func TestIsAQuestion(t *testing.T) {
	for _, ask := range []string{
		"Where is the red kayak?", "where is the red kayak", "and where did she buy it", "when's the dentist", "who", "Which one",
		"did I lock the door", "is Anna allergic to nuts", "do I have a bike", "have we met before", "tell me about Anna",
		"remind me what Bo wants", "what colour is the bike", "And Anna?", "was there milk", "ok so when is it", "Does Tom's wife work",
		"我住在哪里", "红色的皮划艇在哪儿？", "安娜喜欢什么", "谁送我的", "我明天有会吗", "她呢", "会议几点开始", "告诉我安娜的生日", "我有没有自行车", "誰送我的", "會議幾點開始", "我有沒有車",
		"你知不知道安娜住在哪里", "你知不知道她的生日", "如果明天下雨我们去哪", "如果明天下雨，我们去哪里", "他有几个孩子", "几个人来", "现在呢", "还有呢", "你在干嘛呢", "他在哪儿呢", "她现在在做什么呢", "你在做什么事呢",
	} {
		if !IsQuestion(ask) {
			t.Errorf("%q is taken for a statement", ask)
		}
	}
	for _, tell := range []string{
		"I live in Oslo", "When I was in Rome I met Anna", "Where I live it rains.", "Remind me to buy milk", "Have a look at the roof tomorrow",
		"Do the dishes", "Do not forget the keys", "My sister is called Lea.", "Anna asked who took the kayak.", "Will moved to Graz",
		"What a day!", "The dentist is on Friday", "Show starts at nine", "",
		"我住在成都。", "我不知道谁来了", "他什么都吃", "明天九点开会", "我姐夫是律师，对海鲜过敏。", "没什么事", "我哪儿都没去，什么都没买",
		"我买了几个苹果", "我去过几次北京", "我和几个朋友吃饭", "我在写代码呢", "还没吃呢", "哪怕下雨我也去", "如果谁来了，告诉我", "如果谁来了就叫醒我", "如果下雨，我不知道去哪", "我不知道他知不知道",
	} {
		if IsQuestion(tell) {
			t.Errorf("%q is taken for a question", tell)
		}
	}
}
