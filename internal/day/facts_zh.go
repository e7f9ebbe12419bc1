package day

// lunchFacts are said in the noodle shop, in Chinese.
var lunchFacts = []fact{
	{who: "wearer", to: "keeper", draw: []pool{{"herb", []string{"香菜", "大蒜", "芹菜", "茄子", "苦瓜", "洋葱"}}},
		lead: []string{"有什么忌口吗?", "都吃吗?"},
		say: []string{
			"别放{herb},我最讨厌{herb}了。", "我不喜欢吃{herb}。", "我讨厌{herb},闻到都不行。",
			"不要{herb},我不爱吃{herb}。", "我从来不吃{herb}的,受不了那个味道。",
		}, ask: "我不爱吃什么?", answer: []string{"{herb}"}},
	{who: "wearer", to: "keeper", draw: []pool{{"tea", []string{"乌龙茶", "普洱茶", "茉莉花茶", "红茶", "菊花茶"}}},
		lead: []string{"喝点什么呢?", "要茶还是水?"},
		say: []string{
			"我喜欢喝{tea}。", "有{tea}吗?我最喜欢喝{tea}。", "来壶{tea}吧,我特别喜欢{tea}。",
			"我爱喝{tea},来一杯。", "{tea}就好,我平时最爱喝{tea}。",
		}, ask: "我喜欢喝什么茶?", answer: []string{"{tea}"}},
	{who: "keeper", to: "wearer", draw: []pool{{"closing", []string{"礼拜一", "礼拜二", "礼拜三"}}},
		say: []string{
			"下个{closing}我们店关门,回老家一趟。", "跟你说一声,下{closing}店里休息不开门。", "我们下{closing}不开门啊,店里要装修。",
			"下{closing}我们这个店要关门一天。", "对了,下{closing}关门,店里没人。",
		}, ask: "店下个礼拜几关门?", answer: []string{"{closing}"}},
}

// friendFacts are said in the café, in Chinese.
var friendFacts = []fact{
	{who: "friend", to: "wearer", draw: []pool{{"animal", []string{"猫", "狗", "兔子"}}},
		say: []string{
			"我养了一只{animal},叫{pet}。", "我家的{animal}叫{pet},是领养的。", "我们家新来了一只{animal},名字叫{pet}。",
			"我最近养{animal}了,它叫{pet}。", "你还没见过我家{animal}吧,叫{pet}。",
		}, ask: "{friend}的{animal}叫什么名字?", answer: []string{"{pet}"}},
	{who: "friend", to: "wearer", draw: []pool{{"month", []string{"三月", "五月", "十月", "十一月", "十二月"}}},
		say: []string{
			"我{month}要去{farhan}玩。", "我{month}去{farhan},机票都买好了。", "我打算{month}去{farhan}待一个星期。",
			"{month}我要飞{farhan}出差。", "我们{month}准备去{farhan}旅游。",
		}, ask: "{friend}几月去{farhan}?", answer: []string{"{month}"}},
	{who: "wearer", to: "friend", lead: []string{"你生日是哪天来着?", "你是不是快过生日了?"},
		say: []string{
			"我的生日是{handate}。", "我{handate}生日。", "我生日在{handate},还早呢。",
			"还没到呢,我是{handate}过生日。", "我是{handate}出生的。",
		}, ask: "我的生日是哪天?", answer: []string{"{handateforms}"}},
	{who: "friend", to: "wearer", draw: []pool{{"hour", []string{"六点", "七点", "八点"}}},
		say: []string{
			"周{handay}晚上{hour}来我家吃饭吧。", "别忘了周{handay}晚上{hour}到我家吃饭。", "周{handay}晚上{hour}我们在我家聚餐,你来吃饭啊。",
			"那说好了,周{handay}晚上{hour},来我家吃饭。", "周{handay}晚上{hour}我请你吃饭,在我家。",
		}, ask: "周{handay}晚上几点去{friend}家吃饭?", answer: []string{"{hour}"}},
	{who: "wearer", to: "friend", draw: []pool{{"hobby", []string{"打太极", "跳广场舞", "练书法", "学游泳", "种菜"}}},
		lead: []string{"你妈妈最近怎么样?", "阿姨身体还好吧?"},
		say: []string{
			"我妈最近天天{hobby}。", "挺好的,我妈迷上了{hobby}。", "她呀,我妈现在每天早上去{hobby}。",
			"我妈退休以后就开始{hobby}了。", "好着呢,我妈在{hobby},开心得很。",
		}, ask: "我妈最近在做什么?", answer: []string{"{hobby}"}},
}
