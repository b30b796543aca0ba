"""The classes and functions of Keras that a file of a model may name: none holds code, or reads."""

_LAYERS = """
    Activation ActivityRegularization AdaptiveAveragePooling1D AdaptiveAveragePooling2D
    AdaptiveAveragePooling3D AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D Add
    AdditiveAttention AlphaDropout Attention Average AveragePooling1D AveragePooling2D
    AveragePooling3D BatchNormalization Bidirectional CategoryEncoding CenterCrop Concatenate Conv1D
    Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM1D ConvLSTM2D ConvLSTM3D
    Cropping1D Cropping2D Cropping3D Dense DepthwiseConv1D DepthwiseConv2D Discretization Dot
    Dropout ELU EinsumDense Embedding Flatten GRU GRUCell GaussianDropout GaussianNoise
    GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D
    GlobalMaxPooling2D GlobalMaxPooling3D GroupNormalization GroupQueryAttention HashedCrossing
    Hashing Identity InputLayer LSTM LSTMCell LayerNormalization LeakyReLU Masking MaxPooling1D
    MaxPooling2D MaxPooling3D Maximum Minimum MultiHeadAttention Multiply Normalization PReLU
    Permute RMSNormalization RNN ReLU RepeatVector Rescaling Reshape Resizing SeparableConv1D
    SeparableConv2D SimpleRNN SimpleRNNCell Softmax SpatialDropout1D SpatialDropout2D
    SpatialDropout3D SpectralNormalization StackedRNNCells Subtract TimeDistributed
    UnitNormalization UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D
    ZeroPadding3D
"""
_LOSSES = """
    BinaryCrossentropy BinaryFocalCrossentropy CTC CategoricalCrossentropy
    CategoricalFocalCrossentropy CategoricalGeneralizedCrossEntropy CategoricalHinge Circle
    CosineSimilarity Dice Hinge Huber KLDivergence LogCosh MeanAbsoluteError
    MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
    SparseCategoricalCrossentropy SquaredHinge Tversky
"""
_METRICS = """
    AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy
    CategoricalCrossentropy CategoricalHinge ConcordanceCorrelation CosineSimilarity F1Score
    FBetaScore FalseNegatives FalsePositives Hinge IoU KLDivergence LogCoshError Mean
    MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanSquaredError
    MeanSquaredLogarithmicError OneHotIoU OneHotMeanIoU PearsonCorrelation Poisson Precision
    PrecisionAtRecall R2Score Recall RecallAtPrecision RootMeanSquaredError SensitivityAtSpecificity
    SparseCategoricalAccuracy SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy
    SpecificityAtSensitivity SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives
"""
_INITIALIZERS = """
    Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity IdentityInitializer LecunNormal
    LecunUniform Ones Orthogonal OrthogonalInitializer RandomNormal RandomUniform STFT
    STFTInitializer TruncatedNormal VarianceScaling Zeros
"""
_OPTIMIZERS = """
    Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion LossScaleOptimizer Muon Nadam
    RMSprop SGD ScheduleFreeAdamW
"""
_SCHEDULES = """
    CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay PiecewiseConstantDecay
    PolynomialDecay
"""
_DTYPE_POLICIES = """
    DTypePolicy DTypePolicyMap FloatDTypePolicy QuantizedDTypePolicy QuantizedFloat8DTypePolicy
"""
_FUNCTIONS = """
    binary_crossentropy categorical_crossentropy celu elu exponential gelu glu hard_shrink
    hard_sigmoid hard_silu hard_swish hard_tanh hinge huber leaky_relu linear log_sigmoid
    log_softmax mean_absolute_error mean_squared_error mish relu relu6 selu sigmoid silu
    soft_shrink softmax softplus softsign sparse_categorical_crossentropy sparse_plus
    sparse_sigmoid sparsemax squared_hinge squareplus swish tanh tanh_shrink threshold
"""

CLASSES = {
    "keras": {"DTypePolicy", "FloatDTypePolicy", "Functional", "Model", "Sequential"},
    "keras.models": {"Model", "Functional", "Sequential"},
    "keras.src.models.functional": {"Functional"},
    "keras.src.models.sequential": {"Sequential"},
    "keras.layers": {*_LAYERS.split()},
    "keras.losses": {*_LOSSES.split()},
    "keras.metrics": {*_METRICS.split()},
    "keras.initializers": {*_INITIALIZERS.split()},
    "keras.optimizers": {*_OPTIMIZERS.split()},
    "keras.optimizers.schedules": {*_SCHEDULES.split()},
    "keras.dtype_policies": {*_DTYPE_POLICIES.split()},
    "keras.constraints": {"MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm"},
    "keras.regularizers": {"L1", "L1L2", "L2", "OrthogonalRegularizer"},
}
"""The classes that a file may name, by the module under which it names them."""

VALUES = {"__keras_tensor__", "__tensor__", "__numpy__", "__bytes__", "__ellipsis__", "__slice__"}
"""What a file names that has no module: values that JSON does not have."""

FUNCTIONS = {*_FUNCTIONS.split()}
"""The functions that a file may name: activations, and losses of a model that was compiled."""
FUNCTION_MODULES = {"builtins", "keras.activations", "keras.losses"}
