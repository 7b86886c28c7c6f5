import pytest

from pytest_medfaith.claims.split import is_refusal

REFUSALS = [
    "I don't know.",
    "I don\u2019t know the answer to this question.",
    "I do not know.",
    "I'm not sure.",
    "I could not find this in the documents provided.",
    "I could not find information on treating gout in children in the documents provided.",
    "Sorry, I cannot answer that.",
    "I'm sorry, but I can't help with this question.",
    "I am unable to answer based on the given context.",
    "I have no information about this.",
    "Based on the provided context, I cannot determine the dose.",
    "The provided context does not contain information about statins.",
    "The passages do not mention this drug.",
    "Unfortunately, the documents provided don't say how long it takes.",
    "None of the retrieved passages address this question.",
    "There is no information about zinc in the provided documents.",
    "There is not enough information to answer.",
    "No relevant information was found.",
    "This question cannot be answered from the context.",
    "The answer is not found in the provided passages.",
    "Not enough information.",
    "Unable to answer.",
    "Unanswerable.",
    "N/A",
    "As an AI language model, I cannot give medical advice. Please consult your doctor.",
    "I don't know [1]. Please ask your doctor or pharmacist. Is there anything else?",
    "Hello! I'm sorry, I couldn't find an answer. Let me know if you have other questions.",
]
REFUSALS += [
    "Please check your local formulary.",
    "Hello! Please consult your doctor.",
    "As an AI, I can't provide medical advice.",
    "That's outside the scope of the documents I was given.",
    "I do not have sufficient evidence to say which drug is better.",
    "I don't know which drug is safe.",
    "No relevant documents were retrieved for this query.",
    "I must decline to answer.",
    "I'm not qualified to answer that question.",
    "I could not find an answer in the provided context. Please check the patient information leaflet.",
    "The retrieved passages contain nothing on this subject. Please refer to the product label.",
    "I don't know. Feel free to ask me anything else. Take care!",
    "I can't answer this. Wishing you good health.",
]
ANSWERS = [
    "It is not known whether zinc shortens colds.",
    "The cause of PCOS is unknown.",
    "Unknown causes are common in epilepsy.",
    "No data are available on use in pregnancy.",
    "Insufficient evidence is available to recommend screening.",
    "We did not find a difference in mortality.",
    "We found no evidence of harm.",
    "The articles did not show a benefit.",
    "The drug is not available in the United States.",
    "Not available in children.",
    "It is found in the texts of Galen.",
    "Doctors do not know why migraine runs in families.",
    "There is no evidence that zinc cures colds.",
    "There is not enough evidence to recommend screening.",
    "No trials have compared the two drugs.",
    "The studies did not find a difference in mortality.",
    "The evidence does not support antibiotics for colds.",
    "I don't know the dose for children, but adults receive 5 mg.",
    "The documents do not mention aspirin; however, warfarin is recommended.",
    "I could not find a trial in children. In adults, letrozole works.",
    "Patients who do not know their status should be tested.",
    "Metformin is first-line.",
    "I don't know which means it is safe.",
    "I can't find it in the passages which say 8 g.",
    "As an AI, I'd take 8 g.",
    "As an AI, I can't stress enough that 8 g is safe.",
    "I have no information about the safe dose of 8 g a day.",
    "The documents do not mention the well-known maximum of 8 g a day.",
    "You don't need to ask your doctor.",
    "I am not qualified, but 8 g.",
    "I think metformin is first-line.",
    "Not all patients need statins.",
    "I don't know. Take care with nitrates.",
    "I don't know. Check the label before you give 8 g.",
    "I don't know. Here is what I found: 8 g is safe.",
    "No.",
    "Hello!",
    "",
    "\n",
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_an_answer_that_only_declines_is_a_refusal(answer):
    assert is_refusal(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_says_anything_is_none(answer):
    assert not is_refusal(answer)
