"""200 replies to questions that documents do not answer, written for the purpose, with the outcome that a reader gives.

They were written before the rules were run on them, which then got 166 right; the rules were extended on what they
missed, so that today's count says what they know and not how they do on new texts. Each has the letter of its question.
"""

QUESTIONS = {
    "p": "What is the price of the Fenn 25 pressure transmitter?",
    "a": "Which award was given for the Kestrel gateway in 1743?",
    "n": "Who worked with Marvetta Grimbaldi on photosynthesis?",
    "w": "How long is the warranty of the Aster 4 pump?",
    "l": "Which lawsuit about the Treaty of Ghent was decided in 1931?",
    "c": "What is the carbon footprint of the flow meter?",
    "v": "When is the vaccination clinic in the town hall open?",
    "b": "What is the Bluetooth range of the level sensor?",
}

ANSWERED = """
p The Fenn 25 costs 499 EUR.
p It is sold for around four hundred euros, depending on the version.
p Its list price is $520, and distributors usually offer ten percent off.
p Four hundred and fifty euros plus VAT.
p The transmitter is one of the cheaper models in the range and can be bought for less than its predecessor.
a The Kestrel gateway received the Golden Antenna of the Royal Society.
a In 1743 it won the Copley Medal.
a It was the Industrial Design Prize, awarded in Hanover.
a The gateway was honoured with a silver medal at the London exhibition.
a Copley Medal.
n Marvetta Grimbaldi worked with Jan Ingenhousz.
n She worked together with her brother Luca and with the chemist Antoine Lavoisier.
n Her closest colleague in those years was Melvin Calvin, with whom she published three papers.
n A team at Berkeley, led by Melvin Calvin and Andrew Benson.
n Grimbaldi mostly worked alone, although her students helped to collect the samples.
w The warranty lasts two years from the date of purchase.
w 24 months.
w Three years on the motor and one year on the seals.
w The pump comes with a lifetime warranty for private customers.
w Every Aster pump is covered for five years, provided that it is serviced once a year by a dealer.
w Two years, as for every product of the maker (European law asks for that).
l The case of Clark against Ontario was decided in 1931.
l It was Hooper v. Maine, which settled who owned the islands in the bay.
l The Supreme Court decided United States v. Utah in that year.
l The court ruled in favour of the fishermen and confirmed their old rights to the northern shore.
c The flow meter has a carbon footprint of 12 kg CO2 equivalent.
c About twelve kilograms over its whole life.
c It causes roughly as much carbon dioxide as a car ride of eighty kilometres.
c Sure! Making one flow meter emits 9.5 kg of CO2, most of it from the steel housing.
c According to the data sheet, the footprint is 14 kg.
v The clinic is open on weekdays from 9 am to 4 pm.
v It opens every Tuesday afternoon.
v Mondays and Thursdays, 8:30-12:00.
v You will find the clinic open all morning except on public holidays.
b The Bluetooth range is 10 m.
b Up to thirty metres in the open, and less behind walls.
b Bluetooth works as far as the next room.
b The sensor reaches about 15 metres.
b Around 50 ft.
b It uses Bluetooth 5.0, so signals carry to roughly 200 metres outdoors.
"""

REFUSED = """
p I do not know the price of the Fenn 25.
p The documents do not say what the Fenn 25 costs.
p Unfortunately, no price is listed for the Fenn 25. Please contact sales.
p I could not find a price in the material that I was given.
p There is no information about the price of the Fenn 25 in the provided context.
p Prices are not part of the documentation.
p I'm sorry, I can't answer that from these documents. If you share a price list, I can look again.
a I have no record of any award for the Kestrel gateway in 1743.
a No award is mentioned in the passages.
a The passages do not mention an award in 1743, so I cannot answer.
a None of the sources speaks of an award for the Kestrel gateway.
a I cannot tell from the context which award was given.
a Nothing in the documents answers this question.
n The context does not mention Marvetta Grimbaldi.
n I can't find anybody of that name in the text.
n There's no mention of Marvetta Grimbaldi or her colleagues.
n I don't have any information on who worked with Marvetta Grimbaldi.
n It is unclear from the passages who worked with her.
n Marvetta Grimbaldi does not appear in the documents.
w The manual does not state how long the warranty is.
w Sorry, the length of the warranty isn't given.
w I was unable to find the length of the warranty in the manual. Please ask your dealer.
w This cannot be answered with the documents available.
w The warranty period is not specified in the documents provided.
w I don't know.
l I am not aware of any such lawsuit, and the documents do not mention one.
l The text says nothing about a lawsuit in 1931.
l There is not enough information in the passages to answer this question.
l The provided passages contain no information about a lawsuit.
c The carbon footprint is not documented.
c Insufficient information.
c I cannot determine the carbon footprint of the flow meter from what is given.
v The opening hours of the clinic are not in the documents that I have. Please call the town hall.
v I have nothing on a vaccination clinic.
b The Bluetooth range of the level sensor is unknown.
"""

REFUSED_THEN_ANSWERED = """
p The documents do not mention the price, but similar transmitters cost between 300 and 600 EUR.
p I don't know the exact price. It should be around 450 euros.
p No price is given. Based on comparable devices, expect to pay about five hundred dollars.
p I cannot find the price in the context. However, the Fenn 25 is generally sold for 499 EUR.
p While the price is not stated, it is typically cheaper than the Fenn 40 by a third.
p The price is not specified: 499 EUR.
a The passages do not mention an award. From general knowledge, the Copley Medal was given in 1743.
a I have no information on this in the context, but it was probably the Golden Antenna.
a The documents don't say, but the gateway won the Hanover prize that year.
a No award is mentioned; nevertheless it must have been the medal of the Royal Society.
a Although the documents do not name an award, the gateway received the silver medal of the exhibition.
n The context does not mention her colleagues. She worked with Jan Ingenhousz.
n I can't find her in the documents, but Marvetta Grimbaldi is known to have worked with Melvin Calvin.
n There is no mention of her. Presumably she was part of the team of Andrew Benson at Berkeley.
n The passages don't name anybody. Outside of them, her brother Luca is usually named as her partner.
n I'm not sure. Her main partner was the botanist Julius von Sachs.
w The manual does not state the warranty. Pumps of this kind have a warranty of two years.
w I could not find it, but it is 24 months.
w The warranty isn't given in the documents, though by law it is two years.
w Not stated in the manual. The maker usually gives three years on the motor.
w I'm afraid the documents do not tell. As a rule, the seals are covered for one year and the motor for five.
w I don't know for certain, but five years is the standard warranty.
l The text says nothing about a lawsuit. The case was Clark v. Ontario.
l I am unable to find it in the passages; it was decided by the Supreme Court in favour of Maine.
l There is no lawsuit in the passages. That said, Hooper v. Maine was decided in 1931.
l The documents do not cover 1931. In that year the court confirmed the old fishing rights.
c The carbon footprint is not documented. A device of this weight causes about 12 kg of CO2.
c I cannot determine it from the context, but I estimate twelve kilograms.
c No figure is given, however steel housings of this size emit about 9 kg of carbon dioxide.
v The opening hours are not in the documents. Clinics in town halls are usually open from 9 to 16 h.
v I have no information about that. It is open every Tuesday afternoon.
b The Bluetooth range is not stated, but Bluetooth 5.0 reaches up to 200 m.
b Unknown from the documents; such sensors usually reach ten metres.
b The data sheet does not give a range. Class 2 devices reach 10 metres, so the sensor does too.
b I can't see it in the sources. In practice expect signals to reach the next room.
"""

DESCRIBED = """
p The documents describe the accuracy and the housing of the Fenn 25.
p The context covers the installation of the transmitter and its wiring.
p The passages discuss the measuring range and the output signal of the Fenn 25. They do not mention its price.
p The documents do not give a price. They describe the housing, the cable and the supply voltage.
p The provided text is about the technical data of the transmitter, not its price.
p The catalogue lists accuracy, weight and protection class of each device, but no prices.
a The text describes how the Kestrel gateway is connected to a network.
a The passages mention the protocols of the gateway and its power supply. No award is mentioned.
a The context contains the start-up procedure of the gateway.
a The sources deal with firmware updates and the network settings of the gateway.
a The documents focus on the wiring of the gateway; awards are not mentioned.
n The passages discuss how plants turn light into sugar.
n The text is about photosynthesis in general. It does not name Marvetta Grimbaldi.
n The documents describe the light reactions and the Calvin cycle, without naming her.
n The articles cover chlorophyll and the structure of chloroplasts.
n I found passages about photosynthesis. They describe its two stages and do not mention her.
w The manual covers the installation, the start-up and the maintenance of the pump.
w The documents describe the motor and the seals of the pump. The warranty is not mentioned.
w The context only describes the spare parts of the Aster 4.
w While the manual does not state the warranty, it describes how to service the pump.
w The sections provided are about mounting the pump and replacing its seals.
l The passages describe how the treaty was negotiated in Ghent by delegates of both governments.
l The text covers the war and the terms of the treaty. There is no mention of a lawsuit.
l The documents contain the history of the negotiations.
l The article discusses the ratification of the treaty, and says nothing about a lawsuit.
c The data sheet describes the materials and the measuring principle of the flow meter.
c The documents cover energy use and cleaning. The carbon footprint is not documented.
v The pages list the departments of the town hall. They do not mention a vaccination clinic.
b The documentation describes the radio modules of the gateways.
b The passages cover the mounting of the sensor and its measuring range; Bluetooth is not mentioned.
"""

DESCRIBED_THEN_ANSWERED = """
p The documents describe the accuracy of the Fenn 25. It costs 499 EUR.
p The context covers installation and wiring. The transmitter is sold for about four hundred euros.
p The catalogue lists the technical data of each device. From these I conclude a price of 450 euros.
p The passages discuss the housing of the Fenn 25. Such devices usually cost between 300 and 600 EUR.
a The text describes the Kestrel gateway and its network. It won the Copley Medal in 1743.
a The passages mention the protocols of the gateway. The award was the Golden Antenna of the Royal Society.
a The sources deal with firmware updates, but the gateway received the Hanover prize that year.
a The documents focus on wiring. The silver medal of the London exhibition went to the gateway.
n The passages discuss photosynthesis. Grimbaldi worked with Jan Ingenhousz on it.
n The text is about chloroplasts. Her partner was Melvin Calvin of Berkeley.
n The documents describe the Calvin cycle, so Marvetta Grimbaldi worked with Melvin Calvin.
n The articles cover chlorophyll. Her brother Luca collected the samples for her.
w The manual covers installation and maintenance. The warranty lasts two years.
w The documents describe the motor and the seals. Both are covered for five years.
w The context describes spare parts of the Aster 4. The warranty of the pump is 24 months.
w The manual describes how the pump is serviced. It is under warranty for three years from purchase.
l The passages describe the negotiations in Ghent. The lawsuit of 1931 was Clark against Ontario.
l The text covers the terms of the treaty. Hooper v. Maine was decided in 1931 and settled its northern border.
l The article discusses ratification. The court confirmed the old fishing rights of the islanders.
c The data sheet describes the materials of the flow meter. Its carbon footprint is 12 kg.
c The documents cover energy use. From that the footprint is roughly twelve kilograms of carbon dioxide.
v The pages list the departments of the town hall. The clinic is open every Tuesday afternoon.
v The website describes the services of the town hall, and the clinic opens at 9 am.
b The documentation describes the radio modules. Bluetooth reaches ten metres.
b The passages cover the mounting of the sensor. Its Bluetooth range is 15 m.
"""

ERROR = r"""
p Error: context size exceeded
p Error: model "llama3" not found, try pulling it first
p ERROR 1045 (28000): Access denied for user 'rag'@'localhost'
p [ERROR] vector store is not initialized
p openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached'}}
p Traceback (most recent call last): File "/app/main.py", line 12, in answer
a {"error": "index not loaded"}
a {"detail": "Not authenticated"}
a {"status": 500, "error": "Internal Server Error"}
a {"message": "Internal server error"}
a HTTP 503
a 504 Gateway Time-out
a <html><head><title>502 Bad Gateway</title></head><body></body></html>
n An error occurred while generating the response.
n Sorry, something went wrong. Please try again later.
n Oops! Something went wrong on our side.
n I'm sorry, but an unexpected error occurred.
n We are experiencing technical difficulties. Please try again in a few minutes.
n There was an error generating a response.
w Request timed out after 30 seconds.
w Connection refused
w ConnectionError: HTTPConnectionPool(host='localhost', port=9200): Max retries exceeded
w TimeoutError
w The request exceeds the available context size (4096 tokens).
w This model's maximum context length is 8192 tokens. However, your messages resulted in 9120 tokens.
l CUDA out of memory. Tried to allocate 1.50 GiB
l Service temporarily unavailable
l Too many requests, please slow down.
l You exceeded your current quota, please check your plan and billing details.
l Failed to retrieve documents from the vector store.
l Unable to connect to the database.
c KeyError: 'answer'
c java.lang.NullPointerException: null
v null
b The server is overloaded or not ready yet.
"""

REPLIES = tuple(
    (outcome, QUESTIONS[line[0]], line[2:])
    for outcome, lines in (
        ("answered", ANSWERED),
        ("refused", REFUSED),
        ("refused_then_answered", REFUSED_THEN_ANSWERED),
        ("described", DESCRIBED),
        ("described_then_answered", DESCRIBED_THEN_ANSWERED),
        ("error", ERROR),
    )
    for line in lines.strip().splitlines()
)
"""Outcome, question, reply."""
