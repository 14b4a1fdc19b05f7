/** A listing with two alternative titles. */
export interface Text {
  titles: readonly [string, string]
  description: string
  centihours: number
}

export interface Category {
  name: string
  services: readonly Text[]
  requests: readonly Text[]
}

/** Parses one listing per line: title, other title, description, hours. */
function parseTexts(lines: string): Text[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [title, other, description, hours] = line.split('|').map((part) => part.trim())
      return { titles: [title!, other!], description: description!, centihours: Number(hours) * 100 }
    })
}

/** Ten categories with eight services and seven requests each, so that a small town hardly repeats itself. */
export const CATEGORIES: readonly Category[] = [
  {
    name: 'Garden',
    services: parseTexts(`
      Hedges cut to shape | Hedge trimming, privet or beech | I bring my own shears and take the cuttings to the compost yard. | 2
      Lawn mowing | Mowing lawns and orchard meadows | With my own mower, or by scythe where the mower will not go. | 1
      Fruit tree pruning | Winter pruning for apple and pear trees | I took the course of the fruit growers and can show you how while I do it. | 2.5
      Raised beds built | A raised bed from larch boards | You have the wood, I have the tools. Filling it takes another hour. | 4
      Watering while you are away | Holiday watering for garden and balcony | Morning or evening, tomatoes get special treatment. | 0.5
      Vegetable seedlings raised | Seedlings for your kitchen garden | Tomatoes, chard, kohlrabi and herbs, from seed I keep myself. | 1
      Digging and weeding | Weeding, digging, the tedious things | I like working outdoors and I am not afraid of couch grass. | 1.5
      Compost advice | How to make compost that does not smell | I look at your heap and tell you honestly. Worms available. | 0.75
    `),
    requests: parseTexts(`
      Someone to cut our hedge | Help with a long hedge | Thirty metres of hornbeam, higher than we can reach. Ladder is here. | 4
      Help with the spring dig | Turning over two vegetable beds | My back does not allow it any more. Coffee and cake for whoever comes. | 2
      Lawn mowed every fortnight | Mowing in summer | A small lawn behind the house, the mower is in the shed. | 0.75
      Apple harvest | Hands for picking apples | Two old trees, more than we can eat. You take home what you can carry. | 3
      Balcony plants watered in August | Who waters my balcony? | Third floor, lift, about fifteen pots. | 0.5
      A tree stump taken out | Help digging out a stump | It was a plum tree. The roots have other ideas. | 3.5
      Advice for a shady corner | What grows on the north side? | Everything I plant there sulks. I would like someone to look at it with me. | 1
    `),
  },
  {
    name: 'Repairs',
    services: parseTexts(`
      Bicycle repair | Your bicycle, roadworthy again | Brakes, gears, punctures. Parts at cost, I have the usual ones. | 1
      Small electrical repairs | Lamps, plugs and switches | Retired electrician. I also tell you when it is better to call a company. | 1
      Shelves and curtain rails put up | Drilling, hanging, mounting | I have a good drill and a spirit level, and I clean up afterwards. | 1.5
      Furniture assembled | Flat-pack furniture, built without swearing | Wardrobes take two people, so please be at home. | 2
      Dripping taps mended | Taps, siphons and cisterns | Seals and washers I bring along, anything bigger we look at together. | 0.75
      Clothes mended | Zips, hems and holes | On a good old machine. Trousers are shortened while you wait. | 1
      Knives and scissors sharpened | Sharpening for kitchen and garden | On a wet stone, up to ten pieces in one go. | 1
      Old chairs glued | Wobbly chairs and drawers that stick | I was a joiner for thirty years and miss it. | 1.5
    `),
    requests: parseTexts(`
      Washing machine door stuck | Someone who understands washing machines | It opens when it wants to. The model is about ten years old. | 1
      Ceiling lamp to be hung | A lamp for a high ceiling | I have the lamp and the ladder and no head for heights. | 0.75
      Garden gate that sags | Our gate drags on the ground | Probably the hinges. Wood is still sound. | 1.5
      Zip for a winter jacket | New zip wanted | I bought the zip already, sewing it in is beyond me. | 0.75
      Help painting a kitchen | Second painter wanted | Twelve square metres, white, furniture is moved out. | 5
      Bicycle for my daughter made safe | Check of a child’s bicycle | Second hand, the brakes worry me. | 0.75
      Window that lets in the cold | Draughty windows | I would like to know whether new seals are enough. | 1
    `),
  },
  {
    name: 'Computers and phones',
    services: parseTexts(`
      Patient help with your phone | Smartphone without fear | At your pace, as often as needed. I write the steps down for you. | 1
      Computer set up | New laptop made ready | Accounts, printer, mail, and moving your old files. | 2
      Photos sorted and backed up | Your pictures in safe keeping | From phone and camera to a disk, and a second copy. | 1.5
      Video calls with the grandchildren | Learning to make video calls | We practise until it works without me. | 0.75
      Help with online forms | Forms and appointments online | Appointments, applications, tickets. Please have your papers ready. | 0.75
      Slow computer made faster | Tidying up an old computer | Often it needs less than people think. | 1.5
      A simple website | Website for club or small workshop | Plain, quick and easy to change yourself. | 6
      Wi-Fi that reaches the kitchen | Home network looked at | I find the place for the router, and name the parts if any are needed. | 1
    `),
    requests: parseTexts(`
      Printer refuses to print | Help with a printer | It worked until the update. I have tried switching it off and on. | 0.75
      New phone, old contacts | Moving to a new phone | I do not want to lose the photos and numbers. | 1
      Someone to explain online banking | Online banking, explained slowly | With the demonstration page first, please. | 1
      Old slides scanned | Who has a slide scanner? | About three hundred slides from the seventies. | 5
      Spreadsheet for our choir | Help with a spreadsheet | Fees, attendance and who brings the cake. | 1.5
      Newsletter for a club | Laying out a four-page leaflet | Texts and photos are there, what is missing is an eye for it. | 3
      Tablet for my mother | Making a tablet simple | Big letters, few buttons: photos, calls, radio. | 1.5
    `),
  },
  {
    name: 'Children',
    services: parseTexts(`
      Babysitting in the evening | An evening off for parents | Experienced, with references in the street. From two years on. | 3
      Help with mathematics | Maths up to year ten | I explain until it clicks. I taught at the school here. | 1
      Reading together | Reading partner for primary school | Half an hour twice a week works wonders. | 0.5
      Picking up from kindergarten | Kindergarten pick-up on foot | I fetch mine anyway and have two hands. | 0.5
      Afternoon in the woods | Outdoors with a small group | Dams, sticks, soup from the fire. Five children at most. | 3
      Birthday party for children | A treasure hunt for a birthday | With riddles made for your child. Cake is up to you. | 3
      Baby clothes to borrow | Baby clothes and a carrier | Sizes 50 to 74, washed and sorted. The time is for sorting and explaining. | 0.5
      English homework | English for years five to eight | Grammar if we must, stories if we can. | 1
    `),
    requests: parseTexts(`
      Lift to swimming lessons | Who drives to the pool on Thursdays? | One child, own booster seat. | 0.75
      Granny or grandpa for an afternoon | Someone to read and play | Our own grandparents live far away, and the boys love being read to. | 2
      Babysitter for a wedding | Childcare on a Saturday | Two girls, four and seven, who are asleep by eight. | 4
      Help with physics | Physics before the exam | Year nine, forces and electricity. | 1.5
      Costume for the school play | Someone who sews a fox | Fabric is bought. The tail is important. | 2
      Playmate with a garden | A garden to play in | We live in a flat and would bring snacks and help with weeding. | 1.5
      Practice for reading aloud | Reading practice after school | Our son reads well when somebody listens who is not us. | 1
    `),
  },
  {
    name: 'Company and care',
    services: parseTexts(`
      Company for a walk | Walks by the river | Slow is fine. I know every bench between the mill and the weir. | 1
      Visits and conversation | A visit in the afternoon | I listen well and bring the newspaper. | 1
      Going along to the doctor | Accompanying to appointments | I write down what the doctor says, and we go home together. | 1.5
      An afternoon of cards | Cards, chess or dominoes | I play to win but lose gracefully. | 1.5
      Respite for carers | Two free hours for you | I stay with your mother or father while you go out. Trained nurse, retired. | 2
      Reading aloud | Books read to you | Crime, poetry or the local paper. Large voice. | 1
      Company to the cemetery | Tending a grave together | Water cans are heavy; I carry them. | 0.75
      Help after a stay in hospital | The first week at home | Shopping, laundry, a warm meal, somebody who asks how it goes. | 2
    `),
    requests: parseTexts(`
      Someone to play chess with | Chess partner | I have been playing against a machine, and it never laughs. | 1.5
      Company for my father | Visits for an old gentleman | He was a railwayman and has stories. Wednesdays would help us most. | 1.5
      A walk twice a week | Walking companion | New hip, and the doctor says: walk. Alone I do not. | 1
      Company to the eye clinic | Accompaniment to the clinic | They put drops in, and then I cannot read the signs. | 2
      Somebody for coffee and talk | Coffee on Sundays | The house has been quiet since last year. | 1.5
      Reading my post to me | Help with letters | My eyes are no good for small print any more. | 0.75
      An hour for myself | Somebody to sit with my husband | He needs somebody in the house. He is easy company. | 2
    `),
  },
  {
    name: 'Kitchen',
    services: parseTexts(`
      Sourdough bread | Bread from the wood oven | Baked on Fridays, order until Wednesday. | 0.75
      Birthday cakes | Cakes for any occasion | Nut cake, poppy seed, chocolate. I can do without eggs or wheat. | 2
      Cooking for a party | Buffet for up to thirty | You shop by my list, I cook in your kitchen. | 6
      Jam and pickles | Preserving the harvest | Bring what you have too much of, and we share the jars. | 2
      Turkish cooking, shown | Learn to make börek | A morning in my kitchen, at noon we eat. | 2.5
      A warm lunch | Lunch for a neighbour | I cook every day anyway. One portion more makes no difference. | 0.5
      Syrian dishes for your table | Mezze for eight | My grandmother’s recipes, fresh herbs from my balcony. | 3
      Biscuits for Advent | Christmas biscuits, nine kinds | Order in November, please. Tins welcome. | 2
    `),
    requests: parseTexts(`
      Someone to teach me dumplings | Learning to cook dumplings | Mine fall apart. I have tried the book. | 1.5
      Cake for eighty | Cakes for a summer party | For the party of our house. Four sheets would do. | 4
      Lunch while I am on crutches | Warm meals for three weeks | Vegetarian, simple, I wash the boxes. | 1
      Help making elderflower syrup | Elderflowers, who knows how? | The bush is full, and I have bottles. | 1.5
      Cooking for a funeral meal | Help in the kitchen on a sad day | Soup and sandwiches for forty people. | 5
      A vegan birthday cake | Cake without eggs and milk | For a girl who turns ten and loves strawberries. | 2
      Jars of sauerkraut | Making sauerkraut together | I have the pot and the slicer, and nobody to ask any more. | 2
    `),
  },
  {
    name: 'Languages and learning',
    services: parseTexts(`
      German conversation | Speaking German without a book | We talk about what you need: doctor, school, neighbours. | 1
      Italian for travellers | A little Italian | I grew up by the lake. Lessons smell of coffee. | 1
      Letters to authorities | Understanding official letters | We read them together and write the answer. | 1
      Arabic and German | Interpreting Arabic | At school, at the doctor, at the office. | 1
      Proofreading | A second pair of eyes for your text | Applications, theses, invitations. Red pen or gentle pencil, as you like. | 1.5
      Spanish from scratch | Spanish for beginners | From hello to small talk in ten evenings. | 1
      Preparing for the driving theory | Theory test practice | I have heard all the questions and know which are traps. | 1
      Ukrainian and Polish | Help with Ukrainian or Polish | Talking, translating short letters, helping newcomers find their way. | 0.75
    `),
    requests: parseTexts(`
      German practice | Someone to speak German with | I passed the course, but at work everybody is in a hurry. | 1
      Help with an application | CV and cover letter | I have worked in kitchens and would like to work in an office. | 1.5
      French after thirty years | Refreshing my French | We will visit friends in spring, and I would like to say more than merci. | 1
      Letter to the tenancy office | Writing a letter properly | I know what I want to say, but not how one says it. | 1
      Bookkeeping explained | Basics of bookkeeping | I became treasurer of our club and said yes too quickly. | 2
      Old handwriting read | Who reads old German script? | Letters of my great-grandmother, a whole shoebox. | 3
      Talking English once a week | English conversation | At work we have customers from everywhere now. | 1
    `),
  },
  {
    name: 'Errands and transport',
    services: parseTexts(`
      Weekly shopping brought along | Shopping for you, too | I go on Saturdays. Give me your list and your bags. | 0.5
      Trips with a small van | Van with driver | Fuel by distance, lifting included. | 2
      To the recycling yard | Bulky waste taken away | With trailer. You sort, I drive. | 1
      Lift to the station | Early train? I drive you | I am up at five anyhow. | 0.5
      Help moving house | Carrying boxes and pianos | Strong back, own straps, no complaints about the fourth floor. | 4
      Parcels taken in | Parcels and keys | I work from home, opposite the chemist. | 0.25
      Prescription fetched | From the chemist to your door | By cargo bike, in any weather. | 0.5
      Dog walking | Your dog, an hour by the river | Big ones too. References from two Labradors. | 1
    `),
    requests: parseTexts(`
      Lift to the hospital | Driver for Tuesday mornings | Physiotherapy, there and back, for six weeks. | 1.5
      A wardrobe to be carried | Two people and a van | From the second floor to the ground floor round the corner. | 2
      Dog sitter for a weekend | Who takes our dog? | Seven years old, gentle, snores. | 4
      Heavy shopping | Drinks and potatoes brought up | Everything else I manage. No lift in the house. | 0.5
      Old sofa to the yard | Getting rid of a sofa | It goes through the door if one takes the legs off. | 1.5
      Cat fed over Easter | Looking after a cat | Twice a day. He pretends to be starving. | 0.5
      Moving to a smaller flat | Helpers for a move | Forty boxes, and soup for everyone afterwards. | 5
    `),
  },
  {
    name: 'House and home',
    services: parseTexts(`
      Windows cleaned | Clean windows without streaks | I bring cloths, you have the bucket. | 1.5
      Ironing | A basket of ironing | Brought back the next day, on hangers if you like. | 1
      Spring cleaning together | Big clean-up, four hands | It is more fun with music and company. | 3
      Sorting and clearing out | Cellars and attics cleared with care | You decide, I carry and ask the right questions. | 3
      Curtains sewn | Curtains and cushions | Measured at your place, sewn at mine. | 2.5
      Wallpaper and paint | A room painted | Neat edges. You choose the colour, I tell you how much to buy. | 5
      House looked after | Flat and post while you travel | Post, plants, blinds, and a message that all is well. | 0.5
      Papers put in order | Folders for your papers | Insurance, bills, pension. Discreet, with labels. | 1.5
    `),
    requests: parseTexts(`
      Help clearing the attic | An attic full of things | Four decades. Some of it is yours if you want it. | 4
      Windows before Easter | Who cleans windows? | Nine windows, all easy to reach but two. | 2
      Curtains shortened | Hemming long curtains | New flat, lower ceilings. | 1
      Ironing after an operation | Shirts ironed | My shoulder needs six weeks. Ten shirts a week. | 1
      Papers of three years | Help with a drawer of papers | I open it, look, and close it again. | 2
      Moving a bookcase | Two hands for heavy furniture | From one wall to the other, and then perhaps back. | 0.75
      Somebody to deep-clean a kitchen | Kitchen, cupboards and all | Before my daughter comes home with the baby. | 3
    `),
  },
  {
    name: 'Music, crafts and sport',
    services: parseTexts(`
      Guitar for beginners | First chords on the guitar | After five evenings you play your first song. Guitar can be lent. | 1
      Knitting evenings | Socks: learn the heel | The heel is not hard. Tea is provided. | 1.5
      Gentle yoga | Yoga on a chair | For stiff shoulders. In the parish hall or at your home. | 1
      Piano lessons | Piano for children and late starters | Half an hour a week, at my place, on a real one. | 0.75
      Running together | From zero to five kilometres | Twice a week, at a pace that allows talking. | 1
      Photographs of your feast | Photographer for an afternoon | You get the files, and the time to enjoy yourselves. | 3
      Pottery in my shed | A morning at the wheel | Clay and firing at cost. Bring old trousers. | 2.5
      Accordion for your party | Music for a garden party | Waltz, polka, tango, and whatever you can hum. | 2
    `),
    requests: parseTexts(`
      Singing partner | Somebody to sing duets with | Alto seeks soprano, for fun, not for the stage. | 1
      Learning to swim at fifty | Swimming lessons for an adult | Without an audience, if possible. | 1.5
      Help with a quilt | Quilting: the last stitches | It lies on the table since my mother died, and it should be finished. | 2.5
      Table tennis in the evening | Table tennis partner | In the school hall, Thursdays. I used to be good. | 1
      Tuning a zither | Who can tune a zither? | Inherited. It sounds like a cat. | 1
      Dancing the tango | Dance partner for the course | My husband has two left knees. | 1.5
      Frames for my drawings | Help framing pictures | Twelve sheets for a small exhibition in the library. | 2
    `),
  },
]

/** Appended to descriptions. */
export const REMARKS: readonly string[] = [
  'Weekday evenings suit me best.',
  'Saturdays are good, Sundays belong to the family.',
  'Best to ring after six.',
  'I live near the mill bridge.',
  'Between the station and the old brewery.',
  'In the Upper Town; I can also come to you.',
  'Anywhere in Lindenau, and in the villages by bicycle.',
  'Mornings only, I work late shifts.',
  'During school holidays any day.',
  'Please give me two days’ notice.',
  'We could first have a coffee and see.',
  'Just write, I answer quickly.',
  'I do not drive, so please somewhere near a bus stop.',
  'Behind the allotments, blue gate.',
  'By the market square, second floor.',
  'From October to April I have more time.',
  'You need not have done it before.',
  'I speak a little English as well.',
  'Two people are welcome, the time is the same.',
  'I am new here and happy to meet people this way.',
]

/** Notes on the slips of exchanges. */
export const NOTES: readonly string[] = [
  'Thank you, that was a great help!',
  'As agreed by phone.',
  'Went quicker than we thought.',
  'Including the way there.',
  'Gladly again.',
  'Second half follows next month.',
  'With many thanks from the whole house.',
  'Took a bit longer, well worth it.',
  'For Saturday morning.',
  'Cake included.',
  'Friendly and thorough.',
  'Agreed at the spring meeting.',
]

/** Payers' notes on bank transfers. */
export const PAYMENT_NOTES: readonly string[] = [
  'Hours for my mother',
  'Donation to the hour fund',
  'Thank-you gift from the parish',
  'Neighbourhood aid',
  'Volunteer bonus of the town',
  'Care network, monthly grant',
]
